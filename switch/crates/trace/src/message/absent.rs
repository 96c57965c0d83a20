//! What JSON leaves out.

pub(super) trait Absent {
    fn is_absent(&self) -> bool;
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Absent for String {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Absent for bool {
    fn is_absent(&self) -> bool {
        !self
    }
}

impl Absent for u32 {
    fn is_absent(&self) -> bool {
        *self == 0
    }
}

impl Absent for u64 {
    fn is_absent(&self) -> bool {
        *self == 0
    }
}

//! System calls and shared memory: every `unsafe` of the crate is here.

use std::ffi::c_void;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::thread::JoinHandleExt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::thread::JoinHandle;

/// A type without padding and invalid byte patterns, so that the kernel may read and write it.
///
/// # Safety
/// Implement it only for types of that kind.
pub unsafe trait Plain: Copy {}

// SAFETY: an integer takes every pattern and has no padding.
unsafe impl Plain for i32 {}
// SAFETY: as for one integer; arrays have no padding.
unsafe impl Plain for [u32; 2] {}
// SAFETY: as above.
unsafe impl Plain for [u32; 4] {}
// SAFETY: as above.
unsafe impl<const N: usize> Plain for [u8; N] {}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn check_length(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn own(descriptor: RawFd) -> OwnedFd {
    // SAFETY: every caller has just got the descriptor from the kernel and gives it away.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

/// A non-blocking socket, closed on exec.
pub fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes and gives numbers only.
    check(unsafe { libc::socket(domain, kind, protocol) }).map(own)
}

pub fn set_option<T: Plain>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: `value` is valid for `length` bytes, all of them initialized (Plain).
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value, length) })?;
    Ok(())
}

/// Reads an option of the length of `value`.
pub fn get_option<T: Plain>(
    socket: &OwnedFd,
    level: i32,
    name: i32,
    mut value: T,
) -> io::Result<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let place = std::ptr::from_mut(&mut value).cast();
    // SAFETY: the kernel writes at most `length` bytes to `place`, and any bytes make a T (Plain).
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            place,
            std::ptr::from_mut(&mut length),
        )
    })?;
    if length as usize != size_of::<T>() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(value)
}

/// Binds a socket to an address in bytes.
pub fn bind(socket: &OwnedFd, address: &[u8]) -> io::Result<()> {
    let length = address.len() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes, which the slice has, and checks what they say.
    check(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) })?;
    Ok(())
}

/// Index of an interface of this network namespace.
pub fn interface_index(name: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: a string that ends with a zero byte, read only during the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// Name of an interface of this network namespace.
pub fn interface_name(index: u32) -> Option<String> {
    let mut name = [0u8; libc::IFNAMSIZ];
    // SAFETY: the call writes a string of at most IFNAMSIZ bytes to `name`, which has as many.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr().cast()) };
    let text = name.split(|byte| *byte == 0).next()?;
    (!found.is_null()).then(|| String::from_utf8_lossy(text).into_owned())
}

/// Bytes of `struct ifreq`: a name, and a union of which 8 bytes are used here.
pub const INTERFACE_REQUEST: usize = size_of::<libc::ifreq>();

/// An ioctl(2) with a `struct ifreq`.
pub fn interface_request(
    descriptor: BorrowedFd<'_>,
    request: libc::Ioctl,
    argument: &mut [u8; INTERFACE_REQUEST],
) -> io::Result<()> {
    let argument: *mut [u8; INTERFACE_REQUEST] = argument;
    // SAFETY: callers pass requests (SIOCGIF..., TUNSETIFF) whose argument is a struct ifreq, of that many bytes.
    check(unsafe { libc::ioctl(descriptor.as_raw_fd(), request, argument) })?;
    Ok(())
}

/// An ioctl(2) with a pointer to an int.
pub fn set_integer(descriptor: BorrowedFd<'_>, request: libc::Ioctl, value: i32) -> io::Result<()> {
    let value: *const i32 = &raw const value;
    // SAFETY: callers pass requests (TUNSETVNETHDRSZ) that read one int.
    check(unsafe { libc::ioctl(descriptor.as_raw_fd(), request, value) })?;
    Ok(())
}

/// An ioctl(2) that gives an int.
pub fn integer(descriptor: BorrowedFd<'_>, request: libc::Ioctl) -> io::Result<i32> {
    let mut value = 0i32;
    let place: *mut i32 = &raw mut value;
    // SAFETY: callers pass requests (SIOCOUTQ) that write one int.
    check(unsafe { libc::ioctl(descriptor.as_raw_fd(), request, place) })?;
    Ok(value)
}

/// An ioctl(2) with a number.
pub fn set_number(
    descriptor: BorrowedFd<'_>,
    request: libc::Ioctl,
    value: libc::c_ulong,
) -> io::Result<()> {
    // SAFETY: callers pass requests (TUNSETOFFLOAD) whose argument is no pointer.
    check(unsafe { libc::ioctl(descriptor.as_raw_fd(), request, value) })?;
    Ok(())
}

/// Ancillary data of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    pub length: usize,
    pub truncated: bool,
}

/// Receives a message and its control messages (cmsg(3)) without waiting.
pub fn receive(
    socket: &OwnedFd,
    buffer: &mut [u8],
    control: &mut ControlBuffer,
) -> io::Result<Received> {
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: zeros are a valid msghdr: no address, no parts, no control buffer.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.as_mut_ptr().cast();
    message.msg_controllen = control.bytes.len() * size_of::<u64>();
    // SAFETY: the message points to one part and to the control buffer, both valid for the lengths it says.
    let result = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let length = check_length(result)?;
    control.length = message.msg_controllen;
    Ok(Received {
        length,
        truncated: message.msg_flags & libc::MSG_TRUNC != 0,
    })
}

/// Room for one control message of up to 40 bytes, aligned for `struct cmsghdr`.
#[derive(Debug, Default)]
pub struct ControlBuffer {
    bytes: [u64; 7],
    length: usize,
}

impl ControlBuffer {
    /// Data of the first control message, if of this kind.
    pub fn data<const N: usize>(&self, level: i32, kind: i32) -> Option<[u8; N]> {
        const HEADER: usize = size_of::<libc::cmsghdr>();
        let mut bytes = [0; size_of::<[u64; 7]>()];
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.bytes) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        let bytes = bytes.get(..self.length)?;
        let number = |at: usize| -> Option<i32> {
            Some(i32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
        };
        if number(HEADER - 8)? != level || number(HEADER - 4)? != kind {
            return None;
        }
        bytes.get(HEADER..HEADER + N)?.try_into().ok()
    }
}

pub fn send(socket: &OwnedFd, parts: &[&[u8]; 2]) -> io::Result<usize> {
    let parts = parts.map(|part| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    });
    // SAFETY: zeros are a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = parts.as_ptr().cast_mut();
    message.msg_iovlen = parts.len();
    // SAFETY: sendmsg(2) only reads what the message points to: the parts, valid for their lengths.
    check_length(unsafe {
        libc::sendmsg(
            socket.as_raw_fd(),
            &raw const message,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    })
}

/// Has the kernel send a transmit ring's frames, without waiting.
pub fn kick(socket: &OwnedFd) -> io::Result<usize> {
    // SAFETY: a null buffer of length 0 is not read.
    check_length(unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            std::ptr::null(),
            0,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            std::ptr::null(),
            0,
        )
    })
}

pub fn read(descriptor: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes.
    check_length(unsafe {
        libc::read(
            descriptor.as_raw_fd(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
        )
    })
}

pub fn write(descriptor: &OwnedFd, parts: &[&[u8]; 2]) -> io::Result<usize> {
    let parts = parts.map(|part| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    });
    // SAFETY: writev(2) only reads the parts, valid for their lengths.
    check_length(unsafe {
        libc::writev(
            descriptor.as_raw_fd(),
            parts.as_ptr(),
            parts.len() as libc::c_int,
        )
    })
}

/// Memory shared with the kernel through a socket.
///
/// A word before each place says whose turn it is, the kernel's or ours. Those words are given as
/// atomics, the rest as copies and slices; [`ring`](crate::ring) keeps to the turns.
#[derive(Debug)]
pub struct SharedMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Maps the rings of a packet socket.
    pub fn map(socket: &OwnedFd, length: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut::<c_void>(),
                length,
                protection,
                flags,
                socket.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { start, length })
    }

    fn check(&self, at: usize, length: usize) {
        let end = at.checked_add(length);
        assert!(
            end.is_some_and(|end| end <= self.length),
            "{length} bytes at {at}: the mapping has {}",
            self.length
        );
    }

    /// The word at `at`, a multiple of 4.
    #[inline]
    pub fn word(&self, at: usize) -> &AtomicU32 {
        self.check(at, 4);
        assert!(at.is_multiple_of(4), "{at} is no multiple of 4");
        // SAFETY: within the mapping (checked), aligned (checked; mappings begin at pages), and accessed only as an
        // atomic by us, and by the kernel in single accesses.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// Prefetches cache lines from `at` on.
    #[inline]
    pub fn prefetch(&self, at: usize, lines: usize) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..lines {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let place = self.start.as_ptr().wrapping_add(at + line * 64);
            // SAFETY: a hint, which reads nothing into the program and faults at no address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, lines);
    }

    /// Bytes handed over by the kernel, to look at.
    #[inline]
    pub fn look_at(&self, at: usize, length: usize) -> &[u8] {
        self.check(at, length);
        // SAFETY: within the mapping (checked). No mutable slice of ours is there while `self` is shared; the kernel
        // writes only places whose turn word says that it is its turn, and the rings ask for others only.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(at), length) }
    }

    /// Bytes handed over by the kernel, until it gets them back.
    #[inline]
    pub fn bytes(&mut self, at: usize, length: usize) -> &mut [u8] {
        self.check(at, length);
        // SAFETY: within the mapping (checked). `&mut self` makes the slice the only one on our side; the kernel writes
        // only places whose turn word says that it is its turn, and the rings ask for others only.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(at), length) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: our own mapping, with the length it was made with; no reference outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[derive(Debug)]
#[repr(transparent)]
pub struct PollEntry(libc::pollfd);

impl PollEntry {
    /// An entry that is ready to be read, never without a descriptor.
    pub fn readable(descriptor: Option<BorrowedFd<'_>>) -> Self {
        Self::new(descriptor, libc::POLLIN)
    }

    /// An entry that is ready to be written, never without a descriptor.
    pub fn writable(descriptor: Option<BorrowedFd<'_>>) -> Self {
        Self::new(descriptor, libc::POLLOUT)
    }

    fn new(descriptor: Option<BorrowedFd<'_>>, events: libc::c_short) -> Self {
        Self(libc::pollfd {
            // poll(2) ignores negative descriptors.
            fd: descriptor.map_or(-1, |descriptor| descriptor.as_raw_fd()),
            events,
            revents: 0,
        })
    }

    pub fn is_in_trouble(&self) -> bool {
        self.0.revents & !self.0.events != 0
    }

    pub fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits for the entries; a descriptor closed meanwhile is "in trouble".
pub fn poll(entries: &mut [PollEntry], timeout: Option<std::time::Duration>) -> io::Result<()> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    let count = entries.len() as libc::nfds_t;
    // SAFETY: `entries` are `count` pollfd (PollEntry is transparent); the timeout is null or a timespec that lives on.
    check(unsafe {
        libc::ppoll(
            entries.as_mut_ptr().cast(),
            count,
            timeout,
            std::ptr::null(),
        )
    })?;
    Ok(())
}

/// First bytes of an interface's answer to a request.
pub fn interface_value<const N: usize>(name: &str, request: libc::Ioctl) -> io::Result<[u8; N]> {
    let any = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut argument = [0; INTERFACE_REQUEST];
    put_name(&mut argument, name)?;
    interface_request(any.as_fd(), request, &mut argument)?;
    let mut value = [0; N];
    value.copy_from_slice(&argument[libc::IFNAMSIZ..libc::IFNAMSIZ + N]);
    Ok(value)
}

/// An error's text, without std's number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

pub fn put_name(request: &mut [u8; INTERFACE_REQUEST], name: &str) -> io::Result<()> {
    let name = name.as_bytes();
    let long = name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains(&0);
    if long {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    request[..name.len()].copy_from_slice(name);
    Ok(())
}

pub fn switch_on(name: &str) -> io::Result<()> {
    let any = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut request = [0; INTERFACE_REQUEST];
    put_name(&mut request, name)?;
    interface_request(any.as_fd(), libc::SIOCGIFFLAGS as libc::Ioctl, &mut request)?;
    request[libc::IFNAMSIZ] |= libc::IFF_UP as u8;
    interface_request(any.as_fd(), libc::SIOCSIFFLAGS as libc::Ioctl, &mut request)
}

pub fn set_nonblocking(descriptor: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes and gives numbers only.
    let flags = check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: takes and gives numbers only.
    check(unsafe {
        libc::fcntl(
            descriptor.as_raw_fd(),
            libc::F_SETFL,
            flags | libc::O_NONBLOCK,
        )
    })?;
    Ok(())
}

/// A descriptor that is readable after a write (eventfd(2)).
pub fn event() -> io::Result<OwnedFd> {
    // SAFETY: takes and gives numbers only.
    check(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }).map(own)
}

/// Lowers the calling thread's priority, as nice(1).
pub fn be_nice(by: i32) {
    // SAFETY: the call takes three numbers; on Linux 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, by);
    }
}

/// Puts a thread into the class SCHED_RR (sched(7)).
pub fn schedule_in_real_time<T>(thread: &JoinHandle<T>, priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the thread is neither joined nor detached while its handle is borrowed; the parameters are only read.
    let error = unsafe {
        libc::pthread_setschedparam(thread.as_pthread_t(), libc::SCHED_RR, &raw const parameters)
    };
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// mallopt(3).
#[cfg(target_env = "gnu")]
pub fn set_malloc_option(option: i32, value: i32) {
    // SAFETY: the call takes two numbers.
    unsafe {
        libc::mallopt(option, value);
    }
}

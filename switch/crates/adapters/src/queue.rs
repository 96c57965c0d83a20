pub(crate) fn is_full(length: usize, limit: Option<usize>) -> bool {
    limit.is_some_and(|limit| length >= limit)
}

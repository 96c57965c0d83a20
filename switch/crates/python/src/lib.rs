//! The module `phb_switch._native`: the switch and the virtual network for Python.
//!
//! Only checks and converts arguments, and releases the interpreter's lock while waiting for time
//! or a lock of the switch. `_native.pyi` has the Python signatures.

mod attachment;
mod configuration;
mod control;
mod network;
mod port;
mod real_time;
mod server;
mod statistics;
mod switch;
mod thrift;
mod trace;

use pyo3::prelude::*;

pub(crate) use switch::Switch;

/// The embedded switch and the virtual network.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LoadError", module.py().get_type::<switch::LoadError>())?;
    module.add(
        "RefusedError",
        module.py().get_type::<configuration::RefusedError>(),
    )?;
    module.add_class::<port::PortConfig>()?;
    module.add_class::<port::Shaper>()?;
    module.add_class::<control::Match>()?;
    module.add_class::<control::Update>()?;
    module.add_class::<control::Table>()?;
    module.add_class::<Switch>()?;
    module.add_class::<trace::Traces>()?;
    module.add("PortError", module.py().get_type::<attachment::PortError>())?;
    module.add_class::<attachment::Port>()?;
    module.add_class::<configuration::Configuration>()?;
    module.add_class::<configuration::Write>()?;
    module.add_class::<configuration::Read>()?;
    module.add_class::<configuration::Reader>()?;
    module.add_class::<real_time::RealTime>()?;
    module.add_class::<server::Tls>()?;
    module.add_class::<server::Binding>()?;
    module.add_class::<server::Role>()?;
    module.add_class::<server::P4RuntimeServer>()?;
    module.add_class::<thrift::ThriftServer>()?;
    module.add("LIMITS", server::limits(module.py())?)?;
    module.add_class::<network::Adapter>()?;
    module.add_class::<network::Network>()
}

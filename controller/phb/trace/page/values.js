// Whatever a trace holds was written by others: of any shape, with any text. These take it as it comes.

const list = value => Array.isArray(value) ? value : []
const record = value => value && typeof value === 'object' && !Array.isArray(value) ? value : {}
const number = value => Number.isFinite(Number(value)) ? Number(value) : 0

const LONGEST = 300

// Controls and characters that turn the order of what stands beside them are shown as their escapes.
function visible(value) {
  if (value === undefined || value === null) return ''
  const all = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const short = all.length > LONGEST ? all.slice(0, LONGEST) + '…' : all
  return short.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, letter => '\\u{' + letter.codePointAt(0).toString(16) + '}')
}

// An element with attributes and children; text only ever becomes text.
function make(tag, attributes, ...children) {
  const svg = tag === 'svg' || tag === 'path'
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag)
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== undefined) element.setAttribute(name, value)
  }
  element.append(...children.flat(Infinity).filter(child => child !== '' && child !== undefined && child !== null))
  return element
}

// Digits of a number of the program, without '0x'; what isn't one has none.
const digits = value => /^0x[0-9a-f]*$/i.test(value) ? value.slice(2).toLowerCase() : ''
const same = (one, other) => digits(one).replace(/^0+/, '') === digits(other).replace(/^0+/, '')

const ADDRESS = /addr|src|dst|source|destination|\bip|next_hop|gateway|mac|ether/i

// A number as people read it: an address where name and width say so, else decimal; the digits beside it.
function shown(name, value) {
  if (value === undefined) return '0'
  const hex = digits(value)
  if (!hex) return visible(value)
  const address = ADDRESS.test(name) && asAddress(hex)
  if (address) return address
  if (hex.length > 16) return '0x' + (hex.length > LONGEST ? hex.slice(0, LONGEST) + '…' : hex)
  const decimal = BigInt('0x' + hex).toString()
  return decimal.length < 2 ? decimal : `${decimal} (0x${hex})`
}

function asAddress(hex) {
  const bytes = hex.match(/../g) || []
  if (hex.length === 8) return bytes.map(byte => parseInt(byte, 16)).join('.')
  if (hex.length === 12) return bytes.join(':')
  return hex.length === 32 ? asIpv6(hex) : ''
}

// RFC 5952: without leading zeros, the longest run of zeros as '::'.
function asIpv6(hex) {
  const groups = hex.match(/.{4}/g).map(group => group.replace(/^0{1,3}/, ''))
  const runs = [...groups.join(':').matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((one, other) => other[0].length - one[0].length)
  if (!runs.length) return groups.join(':')
  const text = groups.join(':')
  const [before, after] = [text.slice(0, runs[0].index), text.slice(runs[0].index + runs[0][0].length)]
  return `${before}::${after.replace(/^:/, '')}`
}

// A duration in nanoseconds.
function lasting(ns) {
  if (ns < 1e3) return `${ns} ns`
  if (ns < 1e6) return `${trimmed(ns / 1e3)} µs`
  if (ns < 1e9) return `${trimmed(ns / 1e6)} ms`
  return `${trimmed(ns / 1e9)} s`
}
const trimmed = value => String(Number(value.toPrecision(4)))
const counted = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

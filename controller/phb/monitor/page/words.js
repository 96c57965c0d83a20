// Elements, and names and numbers as people read them. Names come from outside: they only ever become text.

const LONGEST = 300

// Controls and characters that turn the order of what stands beside them are shown as their escapes.
export function visible(value, longest = LONGEST) {
  if (value === undefined || value === null) return ''
  const all = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const short = all.length > longest ? all.slice(0, longest) + '…' : all
  return short.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, letter => '\\u{' + letter.codePointAt(0).toString(16) + '}')
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== undefined) element.setAttribute(name, value)
  }
  element.append(...children.flat(Infinity).filter(child => child !== '' && child !== undefined && child !== null))
  return element
}

export const make = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children)
export const draw = (tag, attributes, ...children) => filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
export const at = id => document.getElementById(id)

// Sets what differs: most of a page stays as it is from second to second.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}
export function set(element, name, value) {
  if (value === undefined || value === false) element.removeAttribute(name)
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value)
}

// Keeps one child of `parent` for each key, in the order of the keys. Children are objects with an `element`.
export function keep(parent, children, keys, create) {
  const wanted = new Set(keys)
  for (const [key, child] of children) {
    if (wanted.has(key)) continue
    child.element.remove()
    children.delete(key)
  }
  let place = parent.firstElementChild
  for (const key of wanted) {
    let child = children.get(key)
    if (!child) children.set(key, child = create(key))
    if (child.element === place) place = place.nextElementSibling
    else parent.insertBefore(child.element, place)
  }
}

const trimmed = value => value === 0 ? '0' : value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2)
const scaled = (value, steps) => {
  const [size, unit] = steps.find(([least]) => value >= least * 0.9995) || steps[steps.length - 1]
  return `${trimmed(value / size)}\u00a0${unit}`
}
// Of numbers on axes, which are round.
export const round = text => text.replace(/\.0+(?=\u00a0)/, '')
const BITS = [[1e12, 'Tbit/s'], [1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s']]
const PACKETS = [[1e6, 'M/s'], [1e3, 'k/s']]
const TIMES = [[1e6, 's'], [1e3, 'ms']]
const known = value => typeof value === 'number' && Number.isFinite(value)

export const bits = bps => !known(bps) ? '–' : bps < 0.5 ? '0' : bps < 999.5 ? `${bps.toFixed(0)}\u00a0bit/s` : scaled(bps, BITS)
export const packets = pps => !known(pps) ? '–' : pps <= 0 ? '0/s' : pps < 999.5 ? `${pps < 9.95 ? trimmed(pps) : pps.toFixed(0)}/s` : scaled(pps, PACKETS)
// A delay in microseconds.
export const lasting = us => !known(us) ? '–' : us < 999.5 ? `${us < 9.95 ? trimmed(us) : us.toFixed(0)}\u00a0µs` : scaled(us, TIMES)
export const count = value => known(value) ? Math.round(value).toLocaleString('en') : '–'
export const counted = (value, word) => `${count(value)}\u00a0${word}${value === 1 ? '' : 's'}`

const two = value => String(value).padStart(2, '0')

// Times of runs in virtual time begin at 1970 and are told as what has passed; others by the reader's clock.
export const isVirtual = span => Boolean(span) && span.last < 1e11
export function clock(ms, virtual) {
  if (!known(ms)) return '–'
  if (virtual) {
    const seconds = Math.round(ms / 100) / 10
    const rest = two(Math.floor(seconds % 60)) + (seconds % 1 ? '.' + Math.round(seconds % 1 * 10) : '')
    const minutes = Math.floor(seconds / 60)
    return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`
  }
  const time = new Date(ms)
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}

export const COLLATOR = new Intl.Collator('en', { numeric: true })

export const CONDITIONS = {
  'not-achieved': { sign: '▲', word: 'not achieved' },
  away: { sign: '✕', word: 'away' },
  waiting: { sign: '…', word: 'waiting' },
  okay: { sign: '✓', word: 'okay' },
}
export const STATES = { okay: ['✓', 'okay'], 'not-achieved': ['▲', 'not achieved'], unknown: ['?', 'unknown'] }

// A value of an objective in its unit: bit/s, ms or percent.
export function measured(value, unit) {
  if (!known(value)) return '–'
  if (unit === 'bit/s') return bits(value)
  if (unit === 'ms') return lasting(value * 1e3)
  return `${trimmed(value)}\u00a0${unit === 'percent' ? '%' : visible(unit)}`
}

const markWords = mark => `push ${visible(mark.number)}${mark.user ? ` by ${visible(mark.user)}` : ''} (${visible(mark.command)}): ${changes(mark)}, ${visible(mark.outcome)}`
export const happenedWords = one => one.kind === 'mark' ? markWords(one) : visible(one.message) || visible(one.event)
export function changes(mark) {
  const parts = [['inserted', mark.inserted], ['modified', mark.modified], ['deleted', mark.deleted]].filter(([, many]) => many)
  return parts.length ? parts.map(([word, many]) => `${count(many)} ${word}`).join(', ') : 'no entry changed'
}

// The state of a packet's fields after any of its steps, and each step in words.

const qualified = (header, name) => String(name).includes('.') ? visible(name) : `${visible(header)}.${visible(name)}`

// Fields that a step sets: [name, value], and null as the value of those that it takes away.
function changesOf({ kind, what }, state) {
  if (kind === 'assign') return [[visible(what.field), what.value === undefined ? '0x0' : what.value]]
  if (kind === 'checksum' && what.computed !== undefined) return [[visible(what.field), what.computed]]
  if (kind !== 'extract' && kind !== 'header') return []
  const name = visible(kind === 'extract' ? what.header : what.name)
  if (kind === 'header' && !what.valid) return [...state.keys()].filter(field => field.startsWith(name + '.')).map(field => [field, null])
  return list(what.fields).map(record).map(field => [qualified(name, field.name), field.value === undefined ? '0x0' : field.value])
}

// State after the first `count` steps: a Map of values by field. Checksums that are verified change nothing.
function stateAfter(packet, count) {
  const state = new Map()
  for (const step of packet.steps.slice(0, count)) apply(step, state)
  return state
}

function apply(step, state) {
  if (step.kind === 'checksum' && step.part === 'verify') return
  for (const [field, value] of changesOf(step, state)) {
    if (value === null) state.delete(field)
    else state.set(field, value)
  }
}

// What steps `from` to `to` (without the latter) change: [field, before, after], undefined where there is none.
function changesBetween(packet, from, to) {
  const before = stateAfter(packet, from)
  const after = stateAfter(packet, to)
  const touched = new Set()
  const running = new Map(before)
  for (const step of packet.steps.slice(from, to)) {
    if (step.kind === 'checksum' && step.part === 'verify') continue
    for (const [field] of changesOf(step, running)) touched.add(field)
    apply(step, running)
  }
  return [...touched].map(field => [field, before.get(field), after.get(field)])
}

// The last of the first `count` steps that set a field, or -1.
function lastChange(packet, field, count) {
  const state = new Map()
  let found = -1
  packet.steps.slice(0, count).forEach((step, index) => {
    if (changesOf(step, state).some(([name]) => name === field)) found = index
    apply(step, state)
  })
  return found
}

const call = (action, parameters) =>
  `${visible(action)}(${list(parameters).map(record).map(one => `${visible(one.name)} ${shown(visible(one.name), one.value)}`).join(', ')})`

const place = ({ name, index }) => `${visible(name)}[${number(index)}]`

// A step in a line, and the name of what it is about.
const WORDS = {
  arrived: what => [`arrives at ${what.from_controller ? 'the switch from a controller' : `port ${number(what.port)}`}`, counted(number(what.length), 'byte')],
  state: what => [`state ${visible(what.name)}`, ''],
  extract: what => [`extract ${visible(what.header)}`, `${counted(number(what.length), 'byte')} from ${number(what.offset)}`],
  select: what => [`next state ${visible(what.next)}`, list(what.keys).map(key => shown('', key)).join(', ')],
  parser_error: what => [`parser error ${visible(what.error)}`, ''],
  checksum: what => [`checksum ${visible(what.field)}`, same(what.computed, what.carried) ? 'as carried' : `${shown('', what.carried)} carried, ${shown('', what.computed)} computed`],
  condition: what => [`condition ${visible(what.name)}`, what.holds ? 'yes' : 'no'],
  table: what => [`table ${visible(what.name)}`, `${what.hit ? 'hit' : list(what.key).length ? 'miss' : ''} ${what.action ? call(what.action, what.parameters) : 'no action'}`.trim()],
  call: what => [`action ${visible(what.action)}`, ''],
  statement: what => [`statement ${visible(what.primitive)}`, ''],
  assign: what => [visible(what.field), `= ${shown(visible(what.field), what.value)}`],
  header: what => [`header ${visible(what.name)}`, what.valid ? 'valid' : 'not valid'],
  register: what => [`register ${place(what)}`, what.written ? `${shown('', what.before)} → ${shown('', what.after)}` : `reads ${shown('', what.before)}`],
  counter: what => [`counter ${place(what)}`, what.beyond ? 'beyond its end' : `packets ${number(what.packets_before)} → ${number(what.packets_after)}`],
  meter: what => [`meter ${place(what)}`, what.without_rates ? 'green: it has no rates' : visible(what.colour)],
  extern: what => [visible(what.name), shown('', what.result)],
  request: what => [`asks for ${visible(what.name)}`, number(what.number) ? String(number(what.number)) : ''],
  emit: what => [`emit ${visible(what.header)}`, `${counted(number(what.length), 'byte')} from ${number(what.offset)}`],
  enqueued: what => [`queue of port ${number(what.port)}`, `${counted(number(what.ahead), 'packet')} ahead${what.rank === undefined ? `, queue ${number(what.queue)}` : `, rank ${what.rank}`}`],
  dequeued: what => [`leaves the queue of port ${number(what.port)}`, `waited ${lasting(number(what.waited_ns))}`],
  sending: what => [`line of port ${number(what.port)}`, counted(number(what.length), 'byte')],
  departed: what => [`leaves ${what.to_controller ? 'to a controller' : `by port ${number(what.port)}`}`, counted(number(what.length), 'byte')],
  dropped: what => [`dropped: ${visible(what.reason)}`, what.port === undefined ? '' : `counted at port ${number(what.port)}`],
  copied: what => [`copied: ${visible(what.kind)}`, `trace ${number(what.trace)}${number(what.group) ? `, group ${number(what.group)}` : ''}`],
  unknown: what => ['a step that this page does not know', visible(what)],
}
// The name of a condition is a compiler's: what it asks says more, where the artifact has it.
function wordsOf(step, node) {
  const [title, summary] = WORDS[step.kind](step.what)
  return [step.kind === 'condition' && node && node.detail ? `condition ${visible(node.detail)}` : title, summary]
}

// Steps that decide nothing by themselves: shown with the step before, unless every step is asked for.
const SMALL = new Set(['statement', 'assign', 'header', 'emit', 'call', 'extern'])

// Steps as they are walked through: from `from` to `to`, without the latter, of which the first is shown.
function strides(packet, everything, isMade) {
  const found = []
  packet.steps.forEach((step, index) => {
    const small = SMALL.has(step.kind) || (step.kind === 'table' && isMade(index))
    if (found.length && small && !everything) found.at(-1).to = index + 1
    else found.push({ from: index, to: index + 1 })
  })
  return found
}

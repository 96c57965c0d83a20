// One step in full: key, the entry that won and those that lost, values before and after, source.

const pairs = rows => make('dl', {}, rows.filter(([, value]) => value !== '' && value !== undefined).map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]))

function grid(caption, headings, rows, marked) {
  const body = rows.map((row, index) => make('tr', marked && marked(index) ? { class: marked(index) } : {}, row.map((cell, place) => make(place ? 'td' : 'th', place ? {} : { scope: 'row' }, cell))))
  return make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, make('table', {}, make('caption', {}, caption),
    make('thead', {}, make('tr', {}, headings.map(heading => make('th', { scope: 'col' }, heading)))), make('tbody', {}, body)))
}

function matched(field, given) {
  const { kind, value, second, length } = record(given)
  const of = one => shown(field, one)
  if (kind === 'prefix') return `${of(value)}/${number(length)}`
  if (kind === 'ternary') return /^0*$/.test(digits(second)) ? 'anything' : `${of(value)} &&& ${visible(second)}`
  if (kind === 'range') return `${of(value)} to ${of(second)}`
  return of(value)
}

// Why an entry that matches did not win.
function whyLost(loser, winner) {
  const [one, other] = [record(loser), record(winner)]
  if (one.priority !== undefined && other.priority !== undefined) {
    if (number(one.priority) !== number(other.priority)) return `priority ${number(one.priority)} < ${number(other.priority)}`
    return `the same priority, ${number(one.priority)}, and found later`
  }
  for (const [index, match] of list(one.matches).entries()) {
    const won = record(list(other.matches)[index])
    if (record(match).kind === 'prefix' && number(match.length) !== number(won.length)) return `/${number(match.length)} is shorter than /${number(won.length)}`
  }
  return 'found later'
}

function entries(what) {
  const fields = list(what.key).map(record).map(one => visible(one.name))
  if (!what.hit && !list(what.others).length) {
    return fields.length ? [make('p', {}, `No entry matches, of ${number(what.entries)}: the default action.`)] : []
  }
  const all = [...what.hit ? [record(what.hit)] : [], ...list(what.others).map(record)]
  const lines = all.some(entry => entry.policy)
  const rows = all.map((entry, index) => [
    `${number(entry.number)}`,
    ...fields.map((field, place) => matched(field, list(entry.matches)[place])),
    entry.action ? call(entry.action, entry.parameters) : 'by its profile',
    ...lines ? [visible(entry.policy)] : [],
    !index && what.hit ? 'won' : whyLost(entry, what.hit),
  ])
  const found = [grid(`Entries that match, of ${number(what.entries)}`, ['entry', ...fields, 'action', ...lines ? ['policy'] : [], ''], rows, index => !index && what.hit ? 'won' : 'lost')]
  if (number(what.others_left_out)) found.push(make('p', {}, `${number(what.others_left_out)} more lost.`))
  return found
}

const change = (before, after) => before === after ? String(before) : `${before} → ${after}`
const countsOf = what => [
  ['packets', change(number(what.packets_before), number(what.packets_after))],
  ['bytes', change(number(what.bytes_before), number(what.bytes_after))],
]
const tokensOf = what => what.without_rates ? [['tokens', 'it has no rates']] : [
  ['committed', change(number(what.committed_before), number(what.committed_after))],
  ['second bucket', change(number(what.second_before), number(what.second_after))],
]

// Traces that steps name: the page sets where they are, and what opens one.
const links = { find: () => undefined, open: () => undefined }

function traceOf(value, from) {
  const packet = number(value) ? links.find(from.where, number(value)) : undefined
  if (!packet || packet === from) return number(value) ? String(number(value)) : '–'
  return make('button', { type: 'button', class: 'link', 'aria-label': `to packet ${packet.number}`, onclick: () => links.open(packet) }, String(packet.number))
}

const ahead = (caption, packets, from) => list(packets).length ? [grid(caption, ['trace', 'rank', 'queue', 'bytes', 'from port', 'since'],
  list(packets).map(record).map(one => [traceOf(one.trace, from), one.rank === undefined ? '–' : visible(one.rank), `${number(one.queue)}`, `${number(one.length)}`, `${number(one.ingress_port)}`, lasting(number(one.since_ns))]))] : []

const frame = (hex, length) => {
  const kept = frameOf(hex)
  if (!kept) return []
  const lines = (kept.match(/.{1,32}/g) || []).slice(0, 64).map((line, index) => `${(index * 16).toString(16).padStart(4, '0')}  ${line.match(/../g).join(' ')}`)
  return [make('pre', { tabindex: '0', 'aria-label': 'bytes of the frame' }, lines.join('\n')), kept.length / 2 < length ? make('p', { class: 'muted' }, `${kept.length / 2} of ${length} bytes are kept.`) : '']
}

const DETAILS = {
  arrived: what => frame(what.frame, number(what.length)),
  departed: what => frame(what.frame, number(what.length)),
  extract: what => [grid('Fields', ['field', 'value'], list(what.fields).map(record).map(one => [visible(one.name), shown(visible(one.name), one.value)]))],
  header: what => what.valid ? DETAILS.extract(what) : [],
  checksum: what => [pairs([['carried', shown('', what.carried)], ['computed', shown('', what.computed)]])],
  table: what => [
    list(what.key).length ? grid('Key', ['field', 'value'], list(what.key).map(record).map(one => [visible(one.name), shown(visible(one.name), one.value)])) : '',
    ...entries(what),
    pairs([
      ['member', number(what.member_plus_1) ? String(number(what.member_plus_1) - 1) : ''],
      ['action', what.action ? call(what.action, what.parameters) : 'none'],
      ...what.direct_counter ? countsOf(record(what.direct_counter)).map(([name, value]) => [`counter, ${name}`, value]) : [],
      ...what.direct_meter ? [['meter', visible(what.direct_meter.colour)], ...tokensOf(record(what.direct_meter)).map(([name, value]) => [`meter, ${name}`, value])] : [],
    ]),
  ],
  register: what => [pairs([['before', shown('', what.before)], ['after', shown('', what.written ? what.after : what.before)]])],
  counter: what => what.beyond ? [] : [pairs(countsOf(what))],
  meter: what => [pairs([['colour', visible(what.colour)], ...tokensOf(what)])],
  copied: (what, step, from) => [pairs([['trace', traceOf(what.trace, from)]])],
  enqueued: (what, step, from) => [
    pairs([['rank', what.rank === undefined ? '' : visible(what.rank)], ['queue', what.rank === undefined ? String(number(what.queue)) : ''], ['packets in it', String(number(what.depth))], ['ahead', `${counted(number(what.ahead), 'packet')}, ${counted(number(what.ahead_bytes), 'byte')}`]]),
    ...ahead('Ahead, the next to leave first', what.behind, from),
  ],
  dequeued: (what, step, from) => [
    pairs([['waited', lasting(number(what.waited_ns))], ['served meanwhile', `${counted(number(what.served), 'packet')}, ${counted(number(what.served_bytes), 'byte')}`], ['left in the queue', String(number(what.depth))]]),
    ...ahead('Served while it waited, the latest last', what.behind, from),
  ],
  sending: (what, step) => [pairs([['last bit sent after', lasting(Math.max(0, number(what.ends_ns) - step.time))]])],
  unknown: what => [make('pre', {}, visible(JSON.stringify(what)))],
}

// The source of a step, or else what the artifact says of its node.
function sourceOf(step, node) {
  const known = step.source.file || step.source.fragment ? step.source : record(node && node.source)
  if (!known.file && !known.fragment) return ''
  const line = number(known.line) ? `:${number(known.line)}` : ''
  return make('p', { class: 'source' }, make('code', {}, `${visible(known.file)}${line}`), known.fragment ? make('code', { class: 'fragment' }, visible(known.fragment)) : '')
}

// A step, and the small ones that go with it.
function detailsOf(packet, stride, node) {
  const step = packet.steps[stride.from]
  const [title, summary] = wordsOf(step, node)
  const changed = changesBetween(packet, stride.from, stride.to)
  const also = packet.steps.slice(stride.from + 1, stride.to)
  return [
    make('h3', { id: 'step-title' }, title),
    make('p', { class: 'muted' }, `${step.part}, ${lasting(Math.max(0, step.time - packet.start))} after it came${summary ? ': ' : ''}`, summary ? make('b', {}, summary) : ''),
    sourceOf(step, node),
    ...DETAILS[step.kind] ? DETAILS[step.kind](step.what, step, packet) : [],
    changed.length ? grid('Changes', ['field', 'before', 'after'], changed.map(([field, before, after]) => [field, before === undefined ? '–' : shown(field, before), after === undefined ? 'gone' : shown(field, after)])) : '',
    also.length ? make('details', {}, make('summary', {}, `${counted(also.length, 'statement')} after it`), make('ol', {}, also.map(one => make('li', {}, wordsOf(one).join(' '), ' ', sourceOf(one))))) : '',
  ]
}

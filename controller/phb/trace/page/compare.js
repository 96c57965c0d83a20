// Two packets side by side: where their ways part, and what decided it.

// Steps that are compared; the others follow from them.
const COMPARED = new Set(['arrived', 'state', 'select', 'parser_error', 'checksum', 'condition', 'table', 'register', 'meter', 'enqueued', 'dequeued', 'departed', 'dropped', 'copied', 'request'])
const LONGEST_COMPARED = 3000

// Fields by which a packet comes to its queue; compilers put numbers behind names.
const QUEUEING = /(?:^|[._])(?:rank|priority|egress_spec|egress_port|class_of_service|qid)\d*$/
const MOST_FIELDS = 200

// What a step decides, as text: packets whose texts are equal go on alike.
const OUTCOMES = {
  select: what => visible(what.next),
  parser_error: what => visible(what.error),
  condition: what => what.holds ? 'yes' : 'no',
  table: what => `${what.hit ? `entry ${number(what.hit.number)}` : list(what.key).length ? 'no entry' : ''} ${what.action ? call(what.action, what.parameters) : ''}`.trim(),
  meter: what => what.without_rates ? 'green' : visible(what.colour),
  checksum: what => same(what.computed, what.carried) ? 'right' : 'wrong',
  enqueued: what => `port ${number(what.port)}, ${what.rank === undefined ? `queue ${number(what.queue)}` : `rank ${visible(what.rank)}`}`,
  departed: what => what.to_controller ? 'to a controller' : `port ${number(what.port)}`,
  dropped: what => visible(what.reason),
  copied: what => visible(what.kind),
  request: what => `${visible(what.name)} ${number(what.number)}`,
}
const outcomeOf = step => OUTCOMES[step.kind] ? OUTCOMES[step.kind](step.what) : ''

// Values that differ without deciding: shown beside, not counted as a way apart.
const ASIDE = {
  arrived: what => `port ${number(what.port)}, ${counted(number(what.length), 'byte')}`,
  register: what => wordsOf({ kind: 'register', what })[1],
  dequeued: what => `waited ${lasting(number(what.waited_ns))}`,
}
const asideOf = step => ASIDE[step.kind] ? ASIDE[step.kind](step.what) : outcomeOf(step)

function comparedSteps(packet, flow) {
  const path = flow.follow(packet)
  return packet.steps.map((step, index) => ({ step, index, sign: `${step.kind} ${path[index]} ${step.kind === 'register' ? visible(step.what.name) : ''}` })).filter(({ step }) => COMPARED.has(step.kind)).slice(0, LONGEST_COMPARED)
}

// Pairs of steps that are the same place of the program; undefined where only one packet has it (longest common subsequence).
function aligned(ones, others) {
  let start = 0
  while (start < ones.length && start < others.length && ones[start].sign === others[start].sign) start += 1
  const pairs = ones.slice(0, start).map((one, index) => [one, others[index]])
  const [left, right] = [ones.slice(start), others.slice(start)]
  const width = right.length + 1
  const best = new Uint16Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = left[i].sign === right[j].sign ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1])
    }
  }
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i].sign === right[j].sign) pairs.push([left[i++], right[j++]])
    else if (j >= right.length || (i < left.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) pairs.push([left[i++], undefined])
    else pairs.push([undefined, right[j++]])
  }
  return pairs
}

// The first decision that differs; the first place where only one packet is; all rows that differ.
function compare(one, other, flow) {
  const pairs = aligned(comparedSteps(one, flow), comparedSteps(other, flow))
  const differs = ([left, right]) => !left || !right || outcomeOf(left.step) !== outcomeOf(right.step)
  const aside = ([left, right]) => asideOf(left.step) !== asideOf(right.step)
  const parting = pairs.findIndex(([left, right]) => !left || !right)
  const decided = pairs.findIndex(pair => pair[0] && pair[1] && outcomeOf(pair[0].step) !== outcomeOf(pair[1].step))
  const rows = pairs.filter(pair => differs(pair) || aside(pair))
  const queued = pairs.find(([left, right]) => left && right && left.step.kind === 'enqueued' && differs([left, right]))
  return { pairs, parting: pairs[parting], decided: pairs[decided], rows, queued }
}

// Fields that a decision reads and in which the packets differ: [field, one's value, other's value].
function readDifferently(one, other, pair, node) {
  const [left, right] = pair
  const kind = left.step.kind
  if (kind === 'table') {
    const second = new Map(list(right.step.what.key).map(record).map(field => [visible(field.name), field.value]))
    const reads = list(node && node.reads)
    const key = list(left.step.what.key).map(record)
    // The key may have another name than the field that it reads.
    return key.map((field, index) => [visible(field.name), field.value, second.get(visible(field.name)), reads.length === key.length ? visible(reads[index]) : visible(field.name)]).filter(([, mine, its]) => !same(mine, its))
  }
  if (kind === 'select') {
    const [mine, its] = [list(left.step.what.keys), list(right.step.what.keys)]
    const names = list(node && node.reads)
    return mine.map((value, index) => [visible(names[index] || `key ${index + 1}`), value, its[index]]).filter(([, a, b]) => !same(a, b))
  }
  const reads = kind === 'enqueued' ? fieldsSet(one, left.index, QUEUEING) : list(node && node.reads).map(visible)
  const [mine, its] = [stateAfter(one, left.index), stateAfter(other, right.index)]
  const of = (state, field) => field.endsWith('.$valid$') ? ([...state.keys()].some(name => name.startsWith(field.slice(0, -7))) ? '0x1' : '0x0') : state.get(field)
  return reads.map(field => [field, of(mine, field), of(its, field)]).filter(([, a, b]) => a !== b && !same(a, b))
}

const fieldsSet = (packet, count, wanted) => [...stateAfter(packet, count).keys()].filter(name => wanted.test(name))

// Where a packet has a field's value from, in words.
function originOf(packet, field, count) {
  const name = field.replace(/\.\$valid\$$/, '')
  const index = lastChange(packet, field, count) >= 0 ? lastChange(packet, field, count) : packet.steps.slice(0, count).findLastIndex(step => step.kind === 'extract' && visible(step.what.header) === name)
  if (index < 0) return 'as it began'
  const step = packet.steps[index]
  if (step.kind === 'extract') return `of the frame, from byte ${number(step.what.offset)}`
  const owner = packet.steps.slice(0, index + 1).findLast(each => ['table', 'call', 'state', 'checksum'].includes(each.kind))
  const source = step.source.file ? step.source : owner ? record(owner.source) : {}
  const where = source.file ? `, ${visible(source.file)}:${number(source.line)}` : ''
  return owner ? `set after ${wordsOf(owner).join(' ').trim()}${where}` : 'set by the program'
}

// The comparison as elements. `go` is called with two indices of steps, either may be undefined.
function comparison(one, other, flow, go) {
  const found = compare(one, other, flow)
  const apart = one.where !== other.where
  const names = [one, other].map(packet => `packet ${packet.number}${apart ? ` at ${packet.where || 'a switch'}` : ''}`)
  const titleOf = ([left, right]) => {
    const [at, packet] = left ? [left, one] : [right, other]
    return wordsOf(at.step, flow.node(flow.follow(packet)[at.index]))[0]
  }
  const cell = (of, pair) => pair[of] ? asideOf(pair[of].step) || 'passes' : 'not on its way'
  const link = pair => make('button', { type: 'button', class: 'link', onclick: () => go(pair[0] && pair[0].index, pair[1] && pair[1].index) }, titleOf(pair))
  const parts = []
  if (!found.decided && !found.parting) parts.push(make('p', { class: 'finding' }, 'They go the same way, with the same outcome at every step.'))
  else parts.push(...deciding(found, one, other, flow, names, link))
  if (found.queued && found.queued !== found.decided) parts.push(make('p', {}, 'In the queue: ', link(found.queued), ` ${names[0]}: ${cell(0, found.queued)}; ${names[1]}: ${cell(1, found.queued)}.`), ...because(found.queued, one, other, flow, names))
  const rows = found.rows.slice(0, 500).map(pair => [link(pair), cell(0, pair), cell(1, pair)])
  if (rows.length) parts.push(grid('Everything that differs', ['step', ...names], rows, index => !found.rows[index][0] ? 'second' : !found.rows[index][1] ? 'first' : ''))
  if (found.rows.length > 500) parts.push(make('p', {}, `${found.rows.length - 500} more rows.`))
  return parts
}

function deciding(found, one, other, flow, names, link) {
  const { decided, parting } = found
  if (!decided) return [make('p', { class: 'finding' }, `Only ${parting[0] ? names[0] : names[1]} passes `, link(parting), '; no decision before it differs.')]
  const [left, right] = decided.map(each => each.step)
  return [
    make('p', { class: 'finding' }, 'Their ways part at ', link(decided), `: ${names[0]} ${outcomeOf(left)}, ${names[1]} ${outcomeOf(right)}.`),
    sourceOf(left, flow.node(flow.follow(one)[decided[0].index])) || '',
    ...because(decided, one, other, flow, names),
  ]
}

function because(pair, one, other, flow, names) {
  const node = flow.node(flow.follow(one)[pair[0].index])
  const cell = (field, value) => value === undefined ? '–' : shown(field, value)
  const told = (caption, fields) => grid(caption, ['field', ...names, `${names[0]} has it`, `${names[1]} has it`], fields.map(([name, mine, its, field = name]) => [
    name, cell(field, mine), cell(field, its), originOf(one, field, pair[0].index), originOf(other, field, pair[1].index),
  ]))
  const read = readDifferently(one, other, pair, node)
  const all = differing(one, other, pair)
  const more = all.length ? make('details', {}, make('summary', {}, `All fields that differ there: ${all.length}`), told('Fields that differ', all.slice(0, MOST_FIELDS))) : ''
  if (read.length) return [told('For they differ in', read), more]
  return [...unread(pair, one, other), more]
}

// All fields in which the packets differ when they come to a step.
function differing(one, other, [left, right]) {
  const [mine, its] = [stateAfter(one, left.index), stateAfter(other, right.index)]
  return [...new Set([...mine.keys(), ...its.keys()])].map(field => [field, mine.get(field), its.get(field)]).filter(([, a, b]) => a === undefined || b === undefined || !same(a, b))
}

// Why a decision differs that no field of the packets explains.
function unread(pair, one, other) {
  const kind = pair[0].step.kind
  if (kind === 'table' && one.where !== other.where) return [make('p', {}, 'They are at different switches, whose entries differ.')]
  if (kind === 'table') return [make('p', {}, `${list(pair[0].step.what.key).length ? 'Their keys are the same' : 'It has no key'}: its entries changed between them.`)]
  if (kind === 'meter') return [make('p', {}, `Tokens before: ${number(pair[0].step.what.committed_before)} and ${number(pair[1].step.what.committed_before)}.`)]
  return []
}

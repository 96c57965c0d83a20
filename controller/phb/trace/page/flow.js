// The program as a list in the order in which packets pass it, with an arc for each way on; met nodes are lit.

const PARTS = ['port', 'parser', 'verify', 'ingress', 'queue', 'egress', 'deparser']
// Steps that are places of the program; others happen at the place before.
const PLACES = new Set(['arrived', 'state', 'checksum', 'condition', 'table', 'emit', 'enqueued', 'dequeued', 'sending', 'departed', 'dropped'])
// From so many nodes on, what compilers made is not shown at first.
const MANY = 80

class Flow {
  // Of the artifact's sections, or of none: then nodes are what the traces meet.
  constructor(sections, packets) {
    const given = list(sections)
    this.known = given.length > 0
    this.sections = [section('port', 'arrival', [node('arrived', 'arrived', 'arrives')])]
    if (this.known) this.sections.push(...given.map(one => section(one.part, one.name, list(one.nodes).map(each => ({ ...each, next: list(each.next) })), one.first)))
    else for (const part of PARTS.slice(1)) this.sections.push(section(part, part, part === 'queue' ? [node('queue', 'queue', 'queue')] : []))
    const ends = ['sending', 'departed', 'dropped'].map(kind => node(kind, kind, { sending: 'line', departed: 'leaves', dropped: 'dropped' }[kind]))
    this.sections.push(section('port', 'departure', ends))
    this.ids = new Map()
    this.sections.forEach((one, index) => one.nodes.forEach(each => this.ids.set(each.id, { node: each, section: index })))
    // What packets meet is known of an artifact's program before.
    if (!this.known) for (const packet of packets) this.follow(packet)
  }

  get size() { return this.ids.size }

  // Where each step of a packet happens: ids of nodes. Places that the flow doesn't have yet are added.
  follow(packet) {
    if (packet.path) return packet.path
    let [last, at] = [undefined, 0]
    packet.path = packet.steps.map(step => {
      const called = step.kind === 'call' && this.called(step, at, last)
      if (called) [last, at] = [called.node.id, called.section]
      if (PLACES.has(step.kind)) {
        const found = this.find(step, at) || this.add(step, at, last)
        if (!this.known && last !== undefined && last !== found.node.id) this.lead(last, found.node.id);
        [last, at] = [found.node.id, found.section]
      }
      return last
    })
    return packet.path
  }

  // The node of a step, the nearest at or after the section where the packet is.
  find(step, at) {
    const [kind, name] = placeOf(step)
    const from = this.sections.map((one, index) => index)
    for (const index of [...from.slice(at), ...from.slice(0, at)]) {
      const found = this.ids.get(`${this.sections[index].name}/${name}`)
      if (found && found.section === index && found.node.kind === kind) return found
    }
    return this.ids.get(name) && this.ids.get(name).node.kind === kind ? this.ids.get(name) : undefined
  }

  // The table that a compiler made of a statement: the nearest on the ways from here that calls this action.
  called(step, at, last) {
    const here = this.sections[at].part === step.part ? last : undefined
    const begin = this.sections.find((one, index) => index >= at && one.part === step.part && one.first)
    const [action, seen] = [visible(step.what.action), new Set()]
    const waiting = here ? this.node(here).next.map(({ to }) => to) : begin ? [begin.first] : []
    for (const id of waiting) {
      if (!id || seen.has(id) || !this.ids.has(id)) continue
      seen.add(id)
      if (this.node(id).calls === action) return this.ids.get(id)
      waiting.push(...this.node(id).next.map(({ to }) => to))
    }
    return undefined
  }

  add(step, at, last) {
    const [kind, name] = placeOf(step)
    const wanted = this.sections.findIndex((one, index) => one.part === step.part && index >= at && index > 0)
    const index = wanted >= 0 ? wanted : Math.max(1, this.sections.findIndex(one => one.part === step.part))
    const nodes = this.sections[index].nodes
    const fresh = node(`${this.sections[index].name}/${name}`, kind, name)
    fresh.strange = this.known
    nodes.splice(nodes.findIndex(one => one.id === last) + 1 || nodes.length, 0, fresh)
    const found = { node: fresh, section: index }
    this.ids.set(fresh.id, found)
    return found
  }

  lead(from, to) {
    const next = this.ids.get(from).node.next
    if (!next.some(one => one.to === to)) next.push({ to, label: '' })
  }

  node(id) { return this.ids.has(id) ? this.ids.get(id).node : undefined }

  // Nodes that are shown when compilers' own aren't: what has a name of the program's, and conditions right before it.
  plain(id) {
    const one = this.node(id)
    if (!one || one.made) return false
    return one.kind !== 'condition' || one.next.some(({ to }) => this.node(to) && this.node(to).kind === 'table' && !this.node(to).made)
  }
}

function placeOf({ kind, what }) {
  if (kind === 'enqueued' || kind === 'dequeued') return ['queue', 'queue']
  if (kind === 'checksum') return [kind, visible(what.field)]
  if (kind === 'emit') return [kind, visible(what.header)]
  return [kind, ['state', 'condition', 'table'].includes(kind) ? visible(what.name) : kind]
}

const section = (part, name, nodes, first) => ({ part: visible(part), name: visible(name), nodes, first })
const node = (id, kind, name) => ({ id, kind, name, next: [] })

const SIGNS = { state: '○', condition: '◇', table: '▤', checksum: '∑', emit: '↦', queue: '≡', arrived: '→', departed: '→', sending: '⇥', dropped: '×' }

class FlowView {
  constructor(flow, root, choose) {
    Object.assign(this, { flow, root, choose, every: flow.size <= MANY, rows: new Map() })
    new ResizeObserver(() => this.draw()).observe(root)
  }

  // Shows the paths of one packet, or of two. `current` is the id of the node where the first is.
  show(first, second) {
    this.paths = [first, second].filter(Boolean).map(packet => this.visibleOnly(this.flow.follow(packet)))
    this.rows.clear()
    const met = this.paths.map(path => new Map(path.map((id, index) => [id, index]).reverse()))
    const shown = this.flow.sections.map(one => this.sectionOf(one, met)).filter(Boolean)
    this.arcs = make('svg', { 'aria-hidden': 'true', class: 'arcs' })
    this.root.replaceChildren(this.arcs, ...shown)
    this.draw()
  }

  shows(id) { return this.every || this.flow.plain(id) }

  // A path without those nodes that aren't shown, and without standing still.
  visibleOnly(path) {
    return path.filter(id => id !== undefined && this.shows(id)).filter((id, index, all) => id !== all[index - 1])
  }

  sectionOf(one, met) {
    const nodes = one.nodes.filter(each => this.shows(each.id))
    if (!nodes.length) return undefined
    const items = nodes.map(each => {
      const on = met.map(path => path.has(each.id))
      const words = visible(each.detail || (each.kind === 'table' && each.source ? each.source.fragment : ''))
      const content = [
        make('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[each.kind] || '·'),
        make('span', { class: 'name' }, visible(each.kind === 'condition' && words ? words : each.name)),
        make('span', { class: 'kind', title: words }, each.kind === 'condition' && words ? visible(each.name) : words.length > 60 ? words.slice(0, 60) + '…' : words),
        each.strange ? make('span', { class: 'kind' }, 'not in the artifact') : '',
      ]
      const names = met.length > 1 ? (on[0] && on[1] ? 'both' : on[0] ? 'first' : on[1] ? 'second' : '') : on[0] ? 'met' : ''
      const row = names
        ? make('button', { type: 'button', class: `node ${names}`, onclick: () => this.choose(each.id) }, content, make('span', { class: 'visually-hidden' }, { both: ' both packets pass', first: ' the first packet passes', second: ' the second packet passes', met: ' passed' }[names]))
        : make('div', { class: 'node' }, content)
      row.dataset.node = each.id
      this.rows.set(each.id, row)
      return make('li', {}, row)
    })
    return make('section', { class: 'part' }, make('h3', {}, one.part === one.name || one.part === 'port' ? one.name : `${one.part}: ${one.name}`), make('ol', {}, items))
  }

  // Marks where the packet is: the node itself, or the nearest before it that is shown.
  mark(path, index, follow) {
    let at = index
    while (at > 0 && !this.rows.has(path[at])) at -= 1
    for (const row of this.rows.values()) row.removeAttribute('aria-current')
    const row = this.rows.get(path[at])
    if (!row) return
    row.setAttribute('aria-current', 'step')
    if (!follow) return
    const [box, inside] = [this.root.getBoundingClientRect(), row.getBoundingClientRect()]
    if (inside.top < box.top || inside.bottom > box.bottom) this.root.scrollTop += inside.top - box.top - box.height / 3
  }

  draw() {
    if (!this.arcs) return
    const [top, width] = [this.root.getBoundingClientRect().top - this.root.scrollTop, 56]
    const middles = new Map([...this.rows].map(([id, row]) => {
      const box = row.getBoundingClientRect()
      return [id, box.top + box.height / 2 - top]
    }))
    const order = new Map([...this.rows.keys()].map((id, index) => [id, index]))
    const arc = (from, to, kind) => {
      const [one, other] = [middles.get(from), middles.get(to)]
      const far = Math.min(width - 4, 6 + 9 * Math.log2(Math.abs(order.get(from) - order.get(to)) + 1))
      return make('path', { class: kind, d: `M${width} ${one}C${width - far} ${one} ${width - far} ${other} ${width} ${other}` })
    }
    const drawn = []
    for (const id of this.rows.keys()) for (const to of this.onward(id)) drawn.push(arc(id, to, 'way'))
    this.paths.forEach((path, index) => path.slice(1).forEach((to, place) => {
      drawn.push(arc(path[place], to, this.paths.length > 1 ? ['first', 'second'][index] : 'met'))
    }))
    this.arcs.setAttribute('width', width)
    this.arcs.setAttribute('height', 0)
    this.arcs.replaceChildren(...drawn)
    this.arcs.setAttribute('height', this.root.scrollHeight)
  }

  // Nodes that are shown and follow one, at once or behind such as aren't shown.
  onward(id) {
    const [found, seen, waiting] = [new Set(), new Set([id]), [id]]
    while (waiting.length) {
      for (const { to } of this.flow.node(waiting.pop()).next) {
        if (!to || seen.has(to) || !this.flow.node(to)) continue
        seen.add(to)
        if (this.rows.has(to)) found.add(to)
        else waiting.push(to)
      }
    }
    return found
  }
}

// The page: the list of packets, the program, the step, the fields, the comparison.

const MOST_ROWS = 400
const at = id => document.getElementById(id)

class Page {
  constructor({ traces, sections, left_out: leftOut }) {
    this.packets = list(traces).map(packetOf)
    this.flow = new Flow(sections, this.packets)
    this.view = new FlowView(this.flow, at('flow'), id => this.toNode(id))
    this.everything = false
    this.several = new Set(this.packets.map(packet => packet.where)).size > 1
    this.given = undefined
    at('every-node').checked = this.view.every
    at('left-out').textContent = leftOut ? `${counted(number(leftOut), 'trace')} more had no room on this page.` : ''
    links.find = (where, of) => this.packets.find(packet => packet.where === where && packet.number === of)
    links.open = packet => this.choose(packet)
    this.listen()
    this.list()
    if (this.packets.length) this.choose(this.packets[0])
    else this.say('No packet yet: paste a trace.')
  }

  listen() {
    const on = (id, event, act) => at(id).addEventListener(event, act)
    on('filter', 'input', () => { this.given = undefined; this.list() })
    on('order', 'change', () => this.list())
    on('read', 'click', () => this.paste())
    on('every-node', 'change', event => { this.view.every = event.target.checked; this.redraw() })
    on('every-step', 'change', event => { this.everything = event.target.checked; this.walk(); this.show(this.nearest(this.step)) })
    on('fields-filter', 'input', () => this.fields())
    for (const [id, by] of [['first', -Infinity], ['back', -1], ['forward', 1], ['last', Infinity]]) on(id, 'click', () => this.move(by))
    document.addEventListener('keydown', event => {
      if (event.target.closest('input, select, textarea, .scroll, pre') || event.altKey || event.ctrlKey || event.metaKey) return
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key]
      if (by === undefined) return
      event.preventDefault()
      this.move(by)
    })
  }

  // The list of packets, narrowed by text, in the order that was asked for.
  list() {
    const wanted = at('filter').value.trim().toLowerCase().split(/\s+/).filter(Boolean)
    const words = packet => `${packet.number} ${packet.ends} ${packet.came} -> ${packet.fate} ${packet.where}`.toLowerCase()
    const found = this.packets.filter(packet => this.given ? hasBytes(packet, this.given) : wanted.every(word => words(packet).includes(word)))
    if (at('order').value === 'waited') found.sort((one, other) => other.waited - one.waited)
    at('count').textContent = `${counted(found.length, 'packet')}${found.length < this.packets.length ? ` of ${this.packets.length}` : ''}${found.length > MOST_ROWS ? `; the first ${MOST_ROWS} are shown` : ''}`
    at('packets').replaceChildren(...found.slice(0, MOST_ROWS).map(packet => this.row(packet)))
    return found
  }

  row(packet) {
    const chosen = packet === this.packet
    const compared = packet === this.other
    return make('tr', { class: chosen ? 'first' : compared ? 'second' : '' },
      make('th', { scope: 'row' }, make('button', { type: 'button', class: 'link', 'aria-current': chosen ? 'true' : undefined, onclick: () => this.choose(packet) }, `${packet.number}. ${packet.ends}`)),
      make('td', {}, `${packet.where ? packet.where + ': ' : ''}${packet.came} → ${packet.fate}`, packet.leftOut ? ` (${counted(packet.leftOut, 'step')} left out)` : ''),
      make('td', { class: 'number' }, packet.waited ? lasting(packet.waited) : '–'),
      make('td', {}, make('button', { type: 'button', 'aria-pressed': String(compared), disabled: chosen, 'aria-label': `compare packet ${packet.number} with the chosen one`, onclick: () => this.against(compared ? undefined : packet) }, 'compare')))
  }

  paste() {
    at('wrong').textContent = ''
    try {
      const read = readPasted(at('pasted').value)
      at('filter').value = ''
      this.given = read.frame
      const fresh = list(read.traces).map(packetOf)
      this.packets.push(...fresh)
      const [found] = fresh.length ? fresh : this.list()
      if (!found) throw new Error(`found no packet of these bytes among ${this.packets.length}, expected one that was traced`)
      this.choose(found)
    } catch (error) {
      this.given = undefined
      this.list()
      at('wrong').textContent = error.message
    }
  }

  choose(packet) {
    if (packet === this.other) this.other = undefined
    this.packet = packet
    this.path = this.flow.follow(packet)
    this.walk()
    this.redraw()
    this.list()
    this.show(0)
  }

  against(packet) {
    this.other = packet
    if (packet) this.flow.follow(packet)
    this.redraw()
    this.list()
    if (this.stride !== undefined) this.show(this.stride)
  }

  redraw() {
    this.view.show(this.packet, this.other)
    at('comparison').hidden = !this.other
    if (this.other) at('compared').replaceChildren(...comparison(this.packet, this.other, this.flow, mine => mine !== undefined && this.show(this.nearest(mine))))
    if (this.packet && this.step !== undefined) this.view.mark(this.path, this.step, false)
  }

  walk() {
    const isMade = index => Boolean(record(this.flow.node(this.path[index])).made)
    this.strides = strides(this.packet, this.everything, isMade)
  }

  nearest(index) { return Math.max(0, this.strides.findLastIndex(one => one.from <= index)) }

  move(by) { if (this.packet) this.show(Math.min(Math.max(this.stride + by, 0), this.strides.length - 1)) }

  toNode(id) {
    const on = this.path.includes(id) ? this.packet : this.other
    if (on !== this.packet) this.choose(on)
    this.show(this.nearest(this.path.indexOf(id)))
  }

  // Shows a stride of the chosen packet.
  show(stride) {
    this.stride = stride
    const here = this.strides[stride]
    if (!here) return this.say('This trace has no steps.')
    this.step = here.from
    const step = this.packet.steps[here.from]
    const node = this.flow.node(this.path[here.from])
    at('step').replaceChildren(...detailsOf(this.packet, here, node).filter(Boolean))
    this.say(`Packet ${this.packet.number}${this.several ? ` at ${this.packet.where}` : ''}, step ${stride + 1} of ${this.strides.length}: ${wordsOf(step, node).join(', ')}`)
    at('back').disabled = at('first').disabled = stride === 0
    at('forward').disabled = at('last').disabled = stride === this.strides.length - 1
    this.fields()
    this.view.mark(this.path, here.from, true)
    return undefined
  }

  say(words) { at('position').textContent = words }

  // The state of the fields after the step, those first that it changed.
  fields() {
    if (!this.packet || !this.strides[this.stride]) return
    const { from, to } = this.strides[this.stride]
    const changed = new Set(changesBetween(this.packet, from, to).map(([field]) => field))
    const wanted = at('fields-filter').value.trim().toLowerCase()
    const state = [...stateAfter(this.packet, to)].filter(([field]) => field.toLowerCase().includes(wanted))
    state.sort(([one], [other]) => changed.has(other) - changed.has(one))
    at('fields').replaceChildren(state.length
      ? grid(`${counted(state.length, 'field')} with a value`, ['field', 'value'], state.map(([field, value]) => [field, shown(field, value)]), index => changed.has(state[index][0]) ? 'changed' : '')
      : make('p', { class: 'muted' }, 'No field has a value yet.'))
  }
}

// Of the data that lies in the page, deflated and in base64.
async function open() {
  const packed = Uint8Array.from(atob(at('data').textContent), letter => letter.charCodeAt(0))
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'))
  new Page(JSON.parse(await new Response(unpacked).text()))
  document.documentElement.dataset.ready = 'yes'
}

open()

// All switches: a map where links are known, and a tile each.

import { layout } from './layout.js'
import { COLLATOR, CONDITIONS, at, bits, clock, counted, draw, keep, lasting, make, packets, say, set, visible } from './words.js'

const ORDER = { 'not-achieved': 0, away: 1, waiting: 2, okay: 3 }
const RATES_MS = 120e3
const SPARK = [96, 22]
// With more nodes, only those in trouble have their name beside them; the others tell it when they are pointed at.
const MANY_NODES = 60
const RESORT_MS = 10000
const NARROW_PX = 600
const HOP_PX = 75

export class Network {
  constructor(page) {
    this.page = page
    this.tiles = new Map()
    this.headings = new Map()
    this.map = new NetworkMap(page)
    at('map').append(this.map.element)
    at('find').addEventListener('input', event => page.go({ find: event.target.value }, true))
    at('sort').addEventListener('change', event => page.go({ sort: event.target.value }, true))
  }

  begin() {
    keep(at('tiles'), this.tiles, [])
    this.order = undefined
    this.map.begin()
    at('map').hidden = !this.map.nodes.length
  }

  update() {
    const { page } = this
    const { store, state } = page
    if (document.activeElement !== at('find')) at('find').value = state.find
    at('sort').value = state.sort
    const summaries = new Map(store.names().map(name => [name, store.summary(name)]))
    this.arrange(summaries)
    for (const [key, tile] of this.tiles) if (tile.update) tile.update(summaries.get(key))
    this.map.update(summaries)
    this.lead()
  }

  // Links lead to a switch in the view that is shown: the same moment, the same search.
  lead() {
    const ways = [...this.tiles.entries(), ...this.map.nodes.filter(node => node.isSwitch).map(node => [node.name, node])]
    const led = `${location.hash} ${ways.length} ${this.order}`
    if (this.led === led) return
    this.led = led
    for (const [name, { element }] of ways) if (!name.startsWith('\0')) set(element, 'href', this.page.hash({ switch: name, view: 'figures' }))
  }

  // Tiles move when conditions or what is asked for change; by rate and delay now and then only.
  arrange(summaries) {
    const { store, state } = this.page
    const moving = state.sort === 'rate' || state.sort === 'delay' ? Math.floor(performance.now() / RESORT_MS) : 0
    const order = JSON.stringify([state.find, state.sort, state.only, moving, [...summaries.values()].map(one => one.condition)])
    if (order === this.order) return
    this.order = order
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean)
    const infos = [...store.infos.values()].filter(info => {
      const text = `${info.name} ${info.address} ${info.groups.join(' ')} ${CONDITIONS[summaries.get(info.name).condition].word}`.toLowerCase()
      return words.every(word => text.includes(word)) && (!state.only || summaries.get(info.name).condition === state.only)
    })
    const by = {
      trouble: info => [ORDER[summaries.get(info.name).condition]],
      groups: info => [info.groups[0] || '\uffff', ORDER[summaries.get(info.name).condition]],
      name: () => [],
      rate: info => [-summaries.get(info.name).bps],
      delay: info => [-(summaries.get(info.name).delay || 0)],
    }[state.sort]
    const keys = new Map(infos.map(info => [info, by(info)]))
    infos.sort((one, other) => {
      const [mine, its] = [keys.get(one), keys.get(other)]
      for (let index = 0; index < mine.length; index += 1) if (mine[index] !== its[index]) return mine[index] < its[index] ? -1 : 1
      return COLLATOR.compare(one.name, other.name)
    })
    const listed = []
    let group
    for (const info of infos) {
      const own = info.groups[0] || ''
      if (state.sort === 'groups' && own !== group) {
        group = own
        listed.push(`\0${own}`)
      }
      listed.push(info.name)
    }
    keep(at('tiles'), this.tiles, listed, key => key.startsWith('\0') ? { element: make('h3', {}, visible(key.slice(1)) || 'without a group') } : new Tile(this.page, store.infos.get(key)))
    say(at('found'), !store.infos.size ? 'No switch is watched.' : infos.length === store.infos.size ? '' : `${infos.length} of ${counted(store.infos.size, 'switch').replace(/switchs$/, 'switches')}`)
  }
}

class Tile {
  constructor(page, info) {
    Object.assign(this, { page, info })
    this.sign = make('span', { class: 'sign', 'aria-hidden': 'true' })
    this.condition = make('span', { class: 'condition' })
    this.rate = make('span', { class: 'rate' })
    this.delay = make('span', { class: 'delay' })
    this.spark = draw('path', { class: 'spark' })
    this.element = make('a', { title: `${visible(info.address)} ${info.groups.map(group => visible(group)).join(', ')}` },
      make('span', { class: 'name' }, this.sign, make('b', {}, visible(info.name)), this.condition),
      make('span', { class: 'told' }, this.rate, this.delay),
      draw('svg', { viewBox: `0 0 ${SPARK.join(' ')}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, this.spark))
  }

  update(summary) {
    const { sign, word } = CONDITIONS[summary.condition]
    if (summary === this.summary) return
    this.summary = summary
    set(this.element, 'class', `tile ${summary.condition}`)
    say(this.sign, sign)
    say(this.condition, summary.condition === 'okay' ? '' : summary.unmet > 1 ? `${summary.unmet} ${word}` : word)
    const gone = summary.condition === 'away' || summary.condition === 'waiting'
    say(this.rate, gone ? '–' : bits(summary.bps))
    say(this.delay, gone ? '' : [summary.delay === null ? '' : lasting(summary.delay), summary.dropped > 0 ? `${packets(summary.dropped)} dropped` : ''].filter(Boolean).join(' · '))
    this.line()
  }

  line() {
    const { store } = this.page
    const told = this.summary.condition === 'away' ? [] : store.rates(this.info.name, RATES_MS).map(one => one.ports ? { t: one.t, bps: one.away === undefined ? Object.values(one.ports).reduce((sum, port) => sum + port.bps, 0) : 0 } : one)
    const top = Math.max(1, ...told.map(one => one.bps))
    const end = told.length ? told[told.length - 1].t : 0
    set(this.spark, 'd', told.map((one, index) => `${index ? 'L' : 'M'}${(SPARK[0] * (1 - (end - one.t) / RATES_MS)).toFixed(1)} ${(SPARK[1] - 1 - one.bps / top * (SPARK[1] - 3)).toFixed(1)}`).join('') || undefined)
  }
}

class NetworkMap {
  constructor(page) {
    this.page = page
    this.nodes = []
    this.element = draw('svg', { role: 'group', 'aria-label': 'Map of the network' })
    new ResizeObserver(() => this.place()).observe(at('map'))
  }

  begin() {
    const { store } = this.page
    const { links } = store.hello
    const named = new Set(links.flatMap(({ a, b }) => [a[0], b[0]]))
    const names = links.length ? [...new Set([...store.names().filter(name => named.has(name)), ...named])] : []
    const numbers = new Map(names.map((name, index) => [name, index]))
    this.wires = links.map(({ a, b }) => ({ ends: [numbers.get(a[0]), numbers.get(b[0])], words: `${visible(a[0])} ${visible(a[1])} – ${visible(b[0])} ${visible(b[1])}` }))
    this.layout = names.length ? layout(names.length, this.wires.map(wire => wire.ends)) : undefined
    for (const wire of this.wires) wire.element = draw('path', { class: 'wire' }, draw('title', {}, wire.words))
    this.nodes = names.map(name => new Node(this.page, name, store.infos.has(name)))
    set(this.element, 'class', names.length > MANY_NODES ? 'many' : undefined)
    this.element.replaceChildren(...this.wires.map(wire => wire.element), ...this.nodes.map(node => node.element))
    this.place()
  }

  place() {
    if (!this.layout) return
    const width = at('map').clientWidth
    // On a phone the long side stands upright.
    const upright = width < NARROW_PX
    const least = this.nodes.length > MANY_NODES ? 260 : 96
    const wanted = upright ? 90 + this.layout.hops * HOP_PX : Math.min(this.layout.ratio * width * 0.7, 110 + this.nodes.length * 45)
    const height = Math.max(least, Math.min(wanted, innerHeight * (upright ? 1 : 0.55)))
    set(this.element, 'width', width)
    set(this.element, 'height', height)
    const [aside, above] = [75, 30]
    const places = this.layout.places.map(([x, y]) => upright ? [y, x] : [x, y]).map(([x, y]) => [aside + x * (width - 2 * aside), above + y * (height - 2 * above - 22)])
    for (const { element, ends: [one, other] } of this.wires) set(element, 'd', `M${places[one].map(value => value.toFixed(1)).join(' ')}L${places[other].map(value => value.toFixed(1)).join(' ')}`)
    this.nodes.forEach((node, index) => set(node.element, 'transform', `translate(${places[index].map(value => value.toFixed(1)).join(' ')})`))
  }

  update(summaries) {
    for (const node of this.nodes) {
      const before = node.summary
      node.update(summaries.get(node.name))
      // Those in trouble, with their names, lie on the others; what has the focus keeps it.
      const came = node.isSwitch && node.summary.condition !== 'okay' && (!before || before.condition === 'okay')
      if (came && node.element !== document.activeElement) this.element.append(node.element)
    }
  }
}

const SHAPES = {
  okay: 'M-9 0a9 9 0 1 0 18 0a9 9 0 1 0 -18 0',
  waiting: 'M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0',
  'not-achieved': 'M0 -13L12 9H-12Z',
  away: 'M-9 -9L9 9M9 -9L-9 9',
  host: 'M-5 -5H5V5H-5Z',
}

class Node {
  constructor(page, name, isSwitch) {
    Object.assign(this, { page, name, isSwitch })
    this.shape = draw('path', { d: SHAPES.host })
    this.told = draw('text', { class: 'told', y: 37 })
    this.title = draw('title', {}, visible(name))
    const parts = [this.title, draw('circle', { class: 'behind', r: 14 }), this.shape, draw('text', { class: 'name', y: 24 }, visible(name, 18)), isSwitch ? this.told : '']
    this.element = isSwitch
      ? draw('a', { class: 'node' }, parts)
      : draw('g', { class: 'node host' }, parts)
  }

  update(summary) {
    if (!this.isSwitch || summary === this.summary) return
    this.summary = summary
    const { word } = CONDITIONS[summary.condition]
    set(this.element, 'class', `node ${summary.condition}`)
    set(this.shape, 'd', SHAPES[summary.condition])
    const gone = summary.condition === 'away' || summary.condition === 'waiting'
    const figures = gone ? word : [bits(summary.bps), summary.delay === null ? '' : lasting(summary.delay)].filter(Boolean).join(' · ')
    say(this.told, figures)
    say(this.title, `${visible(this.name)}: ${word}${gone ? '' : `, ${figures}`}`)
  }
}

// The strip on top: how many are in which condition, and what happened last.
export class Strip {
  constructor(page) {
    this.page = page
    this.buttons = new Map(['okay', 'not-achieved', 'away', 'waiting'].map(condition => {
      const number = make('b')
      const button = make('button', {
        type: 'button', class: condition,
        onclick: () => page.go({ switch: '', only: page.state.only === condition && !page.state.switch ? '' : condition }),
      }, make('span', { class: 'sign', 'aria-hidden': 'true' }, CONDITIONS[condition].sign), number, ` ${CONDITIONS[condition].word}`)
      return [condition, { button, number }]
    }))
    at('counts').append(...[...this.buttons.values()].map(({ button }) => button))
  }

  update() {
    const { store, state } = this.page
    const counts = new Map()
    for (const name of store.names()) {
      const { condition } = store.summary(name)
      counts.set(condition, (counts.get(condition) || 0) + 1)
    }
    for (const [condition, { button, number }] of this.buttons) {
      const many = counts.get(condition) || 0
      say(number, String(many))
      button.hidden = !many && condition !== 'okay' && state.only !== condition
      set(button, 'aria-pressed', String(state.only === condition))
    }
    const event = store.lastEvent()
    say(at('event'), event ? `${clock(event.t, this.page.virtual)} ${visible(event.switch)}${event.switch ? ': ' : ''}${visible(event.message)}` : '')
  }
}

// The figures of one switch over time: objectives, what happened, rates of ports, delays and drops of classes.

import { Chart, groupsOf, mean, most, nice } from './chart.js'
import { STATES, bits, clock, counted, draw, happenedWords, keep, lasting, make, measured, packets, round, say, set, visible } from './words.js'

const PERCENTILES = ['50', '90', '99', '99.9']
const MOST_HAPPENED = 40
const FEW_OBJECTIVES = 8
const STRIP_PX = 14
// What is faster than this many decades below the slowest stands at the bottom.
const MOST_DECADES = 5
const NOTHING = { bps: 0, pps: 0, refused: 0, queued: null }

export class Figures {
  constructor(page) {
    this.page = page
    this.element = make('div', { class: 'figures' })
    this.parts = [new Objectives(page), new Happened(page), new Ports(page), new Delays(page), new Drops(page)]
    this.element.append(...this.parts.map(part => part.element))
    page.crosshair.followers.add(() => this.follow())
  }

  begin() { this.parts.forEach(part => part.begin && part.begin()) }

  update(span) {
    const { store } = this.page
    // What is drawn at the left edge begins before it.
    this.details = store.details(span.name, span.from - 2000 * store.hello.interval, span.to)
    this.span = span
    const groups = groupsOf(this.details, span, this.width(), store.hello.interval * 1000)
    for (const part of this.parts) part.update(span, groups, this.details)
    this.follow()
  }

  width() {
    const plot = this.element.querySelector('.plot')
    return plot ? plot.clientWidth : 600
  }

  // The detail that the crosshair stands on, else the newest; none where it is in a gap.
  follow() {
    if (!this.span) return
    const { crosshair } = this.page
    const t = crosshair.t === undefined ? this.span.now : crosshair.t
    const here = nearest(this.details, t, this.span)
    for (const part of this.parts) part.follow(here, crosshair.t === undefined ? undefined : t)
  }
}

function nearest(details, t, { to, step }) {
  let found
  for (const detail of details) if (detail.t <= to && (!found || Math.abs(detail.t - t) < Math.abs(found.t - t))) found = detail
  return found && Math.abs(found.t - t) <= Math.max(2.5 * step, 3000) && found.away === undefined ? found : undefined
}

function section(title, ...children) {
  const id = `h-${title.toLowerCase().replaceAll(' ', '-')}`
  return make('section', { 'aria-labelledby': id }, make('h3', { id }, title), ...children)
}

const keyOf = one => JSON.stringify([one.of, one.measure, one.percentile])
const measureWords = one => one.percentile === null || one.percentile === undefined ? visible(one.measure).replaceAll('-', ' ') : `${visible(one.percentile)}\u00a0% delay`

class Objectives {
  constructor(page) {
    this.page = page
    this.list = make('ul', { class: 'objectives' })
    this.more = make('button', { type: 'button', onclick: () => {
      this.all = !this.all
      page.redraw()
    } })
    this.element = section('Objectives', this.list, this.more)
    this.rows = new Map()
  }

  begin() {
    this.all = false
    keep(this.list, this.rows, [])
  }

  update(span, groups, details) {
    const latest = details.findLast(detail => detail.away === undefined && detail.t <= span.now)
    const asked = latest ? latest.objectives : []
    this.element.hidden = !asked.length
    const order = { 'not-achieved': 0, unknown: 1, okay: 2 }
    const worstFirst = [...asked].sort((one, other) => order[one.state] - order[other.state])
    const sorted = this.all ? worstFirst : worstFirst.slice(0, FEW_OBJECTIVES)
    const okay = worstFirst.slice(FEW_OBJECTIVES).every(one => one.state === 'okay')
    this.more.hidden = asked.length <= FEW_OBJECTIVES
    say(this.more, this.all ? 'only the worst' : `${asked.length - FEW_OBJECTIVES} more${okay ? ', which are okay' : ''}`)
    keep(this.list, this.rows, sorted.map(keyOf), () => new Objective(this.page))
    // One pass over the details for all rows.
    const runs = new Map()
    for (const detail of details) {
      for (const one of detail.objectives) {
        const key = keyOf(one)
        const found = runs.get(key) || []
        if (!found.length) runs.set(key, found)
        const last = found[found.length - 1]
        const connected = last && detail.t - last.to <= 2.5 * Math.max(span.step, detail.seconds * 1000)
        if (connected && last.state === one.state) last.to = detail.t
        else found.push({ state: one.state, from: connected ? last.to : detail.t - span.step, to: detail.t })
      }
    }
    for (const one of sorted) this.rows.get(keyOf(one)).update(one, span, runs.get(keyOf(one)) || [])
  }

  follow(here, t) {
    const byKey = new Map((here ? here.objectives : []).map(one => [keyOf(one), one]))
    for (const [key, row] of this.rows) row.follow(byKey.get(key), t)
  }
}

class Objective {
  constructor(page) {
    this.sign = make('span', { class: 'sign', 'aria-hidden': 'true' })
    this.state = make('span', { class: 'state' })
    this.name = make('span', { class: 'name' })
    this.value = make('span', { class: 'value' })
    this.chart = new Chart('State of an objective over time', STRIP_PX, page.crosshair, undefined, 0)
    this.chart.element.classList.add('strip')
    this.element = make('li', {}, make('p', {}, this.sign, this.name, this.state, this.value), this.chart.element)
  }

  update(one, span, runs) {
    const [sign, word] = STATES[one.state] || STATES.unknown
    set(this.element, 'class', one.state)
    say(this.sign, sign)
    say(this.name, `${visible(one.of)}: ${measureWords(one)}`)
    this.newest = one
    this.since = one.since > 0 && one.state !== 'unknown' ? `${word} since ${clock(one.since, span.virtual)}` : word
    set(this.chart.element, 'aria-label', `${visible(one.of)}, ${measureWords(one)}: ${this.since}. Left and right move through time.`)
    this.chart.frame(span, [])
    const shapes = { okay: [STRIP_PX - 5, STRIP_PX], unknown: [STRIP_PX - 3, STRIP_PX - 2], 'not-achieved': [0, STRIP_PX] }
    this.chart.paths(['okay', 'unknown', 'not-achieved'].map(state => {
      const [top, bottom] = shapes[state]
      const path = runs.filter(run => run.state === state && run.to > span.from).map(run => {
        const [left, right] = [this.chart.x(Math.max(run.from, span.from)), this.chart.x(run.to)]
        return `M${left.toFixed(1)} ${top}H${Math.max(right, left + 1).toFixed(1)}V${bottom}H${left.toFixed(1)}Z`
      }).join('')
      return [`run ${state}`, path]
    }))
  }

  follow(one, t) {
    this.chart.follow()
    const shown = t === undefined ? one || this.newest : one
    const bound = /^min/.test(this.newest.measure) ? 'at least' : 'at most'
    say(this.value, `${shown ? measured(shown.value, shown.unit) : '–'}, ${bound} ${measured(this.newest.bound, this.newest.unit)}`)
    say(this.state, t === undefined ? this.since : shown ? (STATES[shown.state] || STATES.unknown)[1] : 'not known')
    set(this.state, 'class', `state ${shown ? shown.state : 'unknown'}`)
  }
}

class Happened {
  constructor(page) {
    this.page = page
    this.list = make('ol', { class: 'happened' })
    this.none = make('p', { class: 'muted' }, 'Nothing in this time.')
    this.element = section('What happened', this.none, this.list)
    this.rows = new Map()
  }

  begin() { keep(this.list, this.rows, []) }

  update(span) {
    const happened = [...span.events, ...span.marks].sort((one, other) => other.t - one.t).slice(0, MOST_HAPPENED)
    const found = new Map(happened.map(one => [one.kind === 'mark' ? `mark ${one.number}` : `event ${one.t} ${one.event} ${one.message}`, one]))
    this.none.hidden = found.size > 0
    keep(this.list, this.rows, found.keys(), key => this.row(found.get(key), span))
    for (const [key, one] of found) this.rows.get(key).update(one)
  }

  row(first, span) {
    const sign = make('span', { class: 'sign', 'aria-hidden': 'true' }, first.kind === 'mark' ? '◆' : '│')
    const words = make('span')
    const move = () => this.page.crosshair.move(row.one.t)
    const row = {
      one: first,
      element: make('li', {}, make('button', {
        type: 'button', class: first.kind, onclick: move, onfocus: move, onpointerenter: move,
        onblur: () => this.page.crosshair.move(undefined), onpointerleave: () => this.page.crosshair.move(undefined),
      }, sign, make('time', {}, clock(first.t, span.virtual)), words)),
      update(one) {
        row.one = one
        say(words, happenedWords(one))
      },
    }
    return row
  }

  // What happened at the crosshair stands out.
  follow(here, t) {
    const { from, to } = this.page.figures.span
    for (const { element, one } of this.rows.values()) set(element, 'class', t !== undefined && Math.abs(one.t - t) <= (to - from) / 150 && 'near')
  }
}

// A chart with a heading and a legend that tells the figures of the crosshair's moment.
class Figure {
  constructor(page, height, words) {
    this.page = page
    this.title = make('h4')
    this.told = make('p', { class: 'told' })
    this.chart = new Chart('', height, page.crosshair, words)
    this.legend = make('ul', { class: 'legend' })
    this.items = new Map()
    this.element = make('figure', {}, make('figcaption', {}, this.title, this.told), this.chart.element, this.legend)
  }

  name(text, what) {
    say(this.title, text)
    set(this.chart.element, 'aria-label', `${what} of ${text}. Left and right move through time.`)
  }

  // Items of the legend: [key, name, CSS class, figures]; those of classes choose the class.
  tell(items, chooses) {
    keep(this.legend, this.items, items.map(([key]) => key), key => {
      const [, name, colour] = items.find(one => one[0] === key)
      const value = make('span', { class: 'value' })
      const swatch = draw('svg', { class: 'swatch', width: 12, height: 12, 'aria-hidden': 'true' }, draw('rect', { class: colour, width: 12, height: 12, rx: 2 }))
      const chosen = chooses && make('button', { type: 'button', onclick: () => this.page.go({ class: this.page.state.class === key ? '' : key }) }, swatch, make('span', { class: 'name' }, name), value)
      return { value, button: chosen, element: make('li', {}, chosen || [swatch, make('span', { class: 'name' }, name), value]) }
    })
    for (const [key, , , words] of items) {
      const { value, button } = this.items.get(key)
      say(value, words)
      if (button) set(button, 'aria-pressed', String(this.page.state.class === key))
    }
  }
}

class Ports {
  constructor(page) {
    this.page = page
    this.box = make('div', { class: 'charts wide' })
    this.idle = make('p', { class: 'muted' })
    this.element = section('Rates of the ports', this.box, this.idle)
    this.figures = new Map()
  }

  begin() { keep(this.box, this.figures, []) }

  update(span, groups, details) {
    const [latest, names] = [details[details.length - 1], new Map()]
    for (const detail of details) for (const [name, port] of Object.entries(detail.ports)) names.set(name, names.get(name) || port.bps > 0 || Object.keys(port.queues).length > 0)
    const wanted = this.page.state.port
    const busy = [...names.keys()].filter(name => wanted ? name === wanted : names.get(name))
    const idle = [...names.keys()].filter(name => !busy.includes(name))
    this.element.hidden = !names.size
    keep(this.box, this.figures, busy, name => new Port(this.page, name))
    for (const name of busy) this.figures.get(name).update(span, groups, latest)
    this.idle.replaceChildren(...wanted ? [make('button', { type: 'button', onclick: () => this.page.go({ port: '' }) }, 'all ports')] : idle.length ? [`Nothing leaves ${idle.map(name => visible(name)).join(', ')}.`] : [])
  }

  follow(here) { for (const figure of this.figures.values()) figure.follow(here) }
}

class Port extends Figure {
  constructor(page, port) {
    super(page, 170, () => `${clock(page.crosshair.t)} ${this.told.textContent}`)
    this.port = port
    this.name(visible(port), 'Rates of classes')
    if (!page.state.port) this.told.after(make('button', { type: 'button', class: 'small', 'aria-label': `only port ${visible(port)}`, onclick: () => page.go({ port }) }, 'only this'))
  }

  update(span, groups) {
    const { page, port } = this
    const of = detail => detail.ports[port]
    const names = new Set()
    for (const group of groups) for (const detail of group.details) if (of(detail)) Object.keys(of(detail).queues).forEach(name => names.add(name))
    this.names = page.classes().filter(name => names.has(name))
    const layers = this.names.map(name => [`area ${page.colour(name)}${page.state.class && page.state.class !== name ? ' pale' : ''}`, groups.map(group => mean(group, detail => of(detail) && (of(detail).queues[name] || NOTHING).bps))])
    const totals = groups.map(group => mean(group, detail => of(detail) && of(detail).bps))
    const rest = totals.map((total, index) => Math.max(0, total - layers.reduce((sum, [, values]) => sum + values[index], 0)))
    // Rounding and frames between two reads of counters are no traffic of its own.
    this.others = rest.some((value, index) => value > totals[index] * 0.02 + 100)
    // A port without queues of classes has one colour, and no legend.
    if (this.others || !layers.length) layers.push([layers.length ? `area cx${page.state.class ? ' pale' : ''}` : 'area c10', rest])
    const known = groups.length && groups[groups.length - 1].details.findLast(detail => of(detail) && of(detail).speed)
    this.speed = known ? of(known).speed : null
    const highest = Math.max(1000, ...totals)
    // Of a line that is hardly used the scale would show nothing.
    const top = this.speed && highest > this.speed / 10 ? Math.max(this.speed, highest) * 1.08 : nice(highest * 1.05)
    const y = value => this.chart.height * (1 - value / top)
    const levels = [0.5, 1].map(share => nice(top * share / 1.3) > top ? undefined : nice(top / 1.3 / (share === 1 ? 1 : 2))).filter((value, index, all) => value && value <= top && all.indexOf(value) === index)
    const lined = this.speed && this.speed <= top
    this.chart.frame(span, [[this.chart.height, '0'], ...levels.filter(value => !lined || Math.abs(y(value) - y(this.speed)) > 14).map(value => [y(value), round(bits(value))]), ...lined ? [[y(this.speed), round(bits(this.speed)), 'line']] : []])
    this.chart.stack(groups, layers, top)
  }

  follow(here) {
    this.chart.follow()
    const figures = here && here.ports[this.port]
    const parts = figures ? [`${bits(figures.bps)}${this.speed ? ` of ${bits(this.speed)}` : ''}`, figures.queued === null ? '' : `${counted(figures.queued, 'packet')} waiting`, figures.up === false ? 'link down' : ''] : ['no figures']
    say(this.told, parts.filter(Boolean).join(' · '))
    const items = (this.names || []).map(name => {
      const queue = figures && figures.queues[name]
      const words = queue ? `${bits(queue.bps)}${queue.queued ? ` · ${queue.queued} waiting` : ''}${queue.refused > 0 ? ` · ${packets(queue.refused)} refused` : ''}` : '–'
      return [name, visible(name), `area ${this.page.colour(name)}`, words]
    })
    if (this.others && items.length) items.push(['\0', 'without a class', 'area cx', figures ? bits(Math.max(0, figures.bps - Object.values(figures.queues).reduce((sum, queue) => sum + queue.bps, 0))) : '–'])
    this.tell(items, true)
  }
}

class Delays {
  constructor(page) {
    this.page = page
    this.box = make('div', { class: 'charts' })
    this.idle = make('p', { class: 'muted' })
    this.element = section('Delay of the classes', make('p', { class: 'key' }, 'thick line 50\u00a0%, thin line 99\u00a0%, bands to 90, 99 and 99.9\u00a0%; dashed is what an objective asks for'), this.box, this.idle)
    this.figures = new Map()
  }

  begin() { keep(this.box, this.figures, []) }

  update(span, groups) {
    const { page } = this
    let [least, highest] = [Infinity, 0]
    const there = new Set()
    for (const group of groups) {
      for (const detail of group.details) {
        for (const [name, one] of Object.entries(detail.classes)) {
          if (!one.delays) continue
          there.add(name)
          least = Math.min(least, one.delays['50'])
          highest = Math.max(highest, one.delays['99.9'])
        }
      }
    }
    const shown = page.classes().filter(name => there.has(name) && (!page.state.class || page.state.class === name))
    const high = Math.ceil(Math.log10(Math.max(highest, 10)))
    const low = Math.floor(Math.log10(Math.max(least, 1)))
    const decades = [Math.min(high - 1, Math.max(low, high - MOST_DECADES)), high]
    keep(this.box, this.figures, shown, name => new Delay(page, name))
    for (const name of shown) this.figures.get(name).update(span, groups, decades)
    const idle = page.state.class ? [] : page.classes().filter(name => !there.has(name))
    say(this.idle, idle.length ? `Nothing left in ${idle.map(name => visible(name)).join(', ')}.` : '')
    this.element.hidden = !shown.length && !idle.length
  }

  follow(here) { for (const figure of this.figures.values()) figure.follow(here) }
}

class Delay extends Figure {
  constructor(page, of) {
    super(page, 110, () => `${clock(page.crosshair.t)} ${this.told.textContent}`)
    this.of = of
    this.name(visible(of), 'Delay')
    this.title.prepend(draw('svg', { class: 'swatch', width: 12, height: 12, 'aria-hidden': 'true' }, draw('rect', { class: `area ${page.colour(of)}`, width: 12, height: 12, rx: 2 })), ' ')
    this.legend.remove()
  }

  update(span, groups, [low, high]) {
    const { chart } = this
    const y = us => chart.height * (1 - (Math.log10(Math.max(us, 10 ** low)) - low) / (high - low))
    const levels = []
    for (let decade = low; decade <= high; decade += 1) levels.push([y(10 ** decade), round(lasting(10 ** decade))])
    const latest = groups.length ? groups[groups.length - 1].details[0].objectives : []
    const bounds = latest.filter(one => one.of === `class '${this.of}'` && one.unit === 'ms' && one.bound * 1e3 >= 10 ** low && one.bound * 1e3 <= 10 ** high)
    chart.frame(span, levels)
    const values = PERCENTILES.map(percentile => groups.map(group => most(group, detail => {
      const one = detail.classes[this.of]
      return one && one.delays ? one.delays[percentile] : undefined
    })))
    const colour = this.page.colour(this.of)
    const paths = [0, 1, 2].map(index => [`band b${index} ${colour}`, chart.band(groups, group => values[index][group], group => values[index + 1][group], y)])
    for (const [index, name] of ['median', '', 'p99', ''].entries()) if (name) paths.push([`line ${name} ${colour}`, chart.line(groups, group => values[index][group], y)])
    for (const one of bounds) paths.push(['line bound', `M70 ${y(one.bound * 1e3).toFixed(1)}H${chart.width - 10}`])
    chart.paths(paths)
  }

  follow(here) {
    this.chart.follow()
    const one = here && here.classes[this.of]
    say(this.told, one && one.delays ? PERCENTILES.map(percentile => `${percentile}\u00a0%\u00a0${lasting(one.delays[percentile])}`).join(' · ') : 'nothing left')
  }
}

class Drops extends Figure {
  constructor(page) {
    super(page, 110, () => `${clock(page.crosshair.t)} ${this.told.textContent}`)
    this.figure = this.element
    this.reasons = []
    this.name('All classes', 'Drops by reason')
    this.none = make('p', { class: 'muted' }, 'No packet was dropped in this time.')
    this.element = section('Drops', this.none, this.figure)
  }

  begin() { this.reasons = [] }

  update(span, groups) {
    const wanted = this.page.state.class
    const of = wanted ? [wanted] : this.page.classes()
    this.of = of
    const reasons = new Set(this.reasons)
    for (const group of groups) for (const detail of group.details) for (const name of of) for (const [reason, pps] of Object.entries((detail.classes[name] || { dropped: {} }).dropped)) if (pps > 0) reasons.add(reason)
    this.reasons = [...reasons].sort()
    this.none.hidden = reasons.size > 0
    this.figure.hidden = !reasons.size
    this.name(wanted ? visible(wanted) : 'All classes', 'Drops by reason')
    if (!reasons.size) return
    const layers = this.reasons.map((reason, index) => [`area c${index % 12}`, groups.map(group => mean(group, detail => this.dropped(detail, reason)))])
    const totals = groups.map((group, index) => layers.reduce((sum, [, values]) => sum + values[index], 0))
    const top = nice(Math.max(1, ...totals) * 1.05)
    this.chart.frame(span, [[this.chart.height, '0'], [this.chart.height / 2, packets(top / 2)], [0, packets(top)]])
    this.chart.stack(groups, layers, top)
  }

  dropped(detail, reason) { return this.of.reduce((sum, name) => sum + ((detail.classes[name] || { dropped: {} }).dropped[reason] || 0), 0) }

  follow(here) {
    this.chart.follow()
    if (this.figure.hidden) return
    const each = this.reasons.map(reason => here ? this.dropped(here, reason) : undefined)
    say(this.told, here ? `${packets(each.reduce((sum, pps) => sum + pps, 0))} dropped` : 'no figures')
    this.tell(this.reasons.map((reason, index) => [reason, visible(reason).toLowerCase().replaceAll('_', ' '), `area c${index % 12}`, packets(each[index])]), false)
  }
}

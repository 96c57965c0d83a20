// Charts over one time axis. All of a page share one crosshair; pointer, touch and keys move it.

import { clock, draw, happenedWords, make, say, set } from './words.js'

const LEFT = 70
const RIGHT = 10
const BELOW = 18
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400]
const TICK_PX = 90

// Of so many details one point is drawn, at most one for two pixels. `broken`: nothing is known right before.
export function groupsOf(details, { from, to }, width, intervalMs) {
  const spacings = details.slice(1).map((detail, index) => detail.t - details[index].t).sort((one, other) => one - other)
  const usual = Math.max(intervalMs, spacings[spacings.length >> 1] || 0)
  const size = Math.max(1, (to - from) / Math.max(60, width / 2))
  const groups = []
  let [broken, last] = [true, undefined]
  for (const detail of details) {
    if (detail.away !== undefined || !(detail.seconds > 0)) {
      broken = true
      continue
    }
    if (last !== undefined && detail.t - last > 2.5 * usual) broken = true
    const slot = Math.floor(detail.t / size)
    const group = groups[groups.length - 1]
    if (group && group.slot === slot && !broken) {
      group.details.push(detail)
      group.t = detail.t
    } else groups.push({ slot, t: detail.t, begin: detail.t - usual, broken, details: [detail] })
    broken = false
    last = detail.t
  }
  return groups
}

export const mean = (group, value) => group.details.reduce((sum, detail) => sum + (value(detail) || 0), 0) / group.details.length
export function most(group, value) {
  let found
  for (const detail of group.details) {
    const one = value(detail)
    if (one !== null && one !== undefined && (found === undefined || one > found)) found = one
  }
  return found
}

// The next number of 1, 2, 5, 10, ...
export function nice(value) {
  if (!(value > 0)) return 1
  const size = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map(factor => factor * size).find(one => one >= value * 0.999)
}

// Where the crosshair is; those who follow are told. Beside it stands what time it is, and what happened then.
export class Crosshair {
  constructor() {
    this.t = undefined
    this.followers = new Set()
  }

  // `chart` is where it was moved.
  move(t, chart) {
    if (t === this.t) return
    Object.assign(this, { t, chart })
    cancelAnimationFrame(this.frame)
    this.frame = requestAnimationFrame(() => this.followers.forEach(follow => follow()))
  }
}

const NEAR_PX = 6

export class Tip {
  constructor(crosshair) {
    this.crosshair = crosshair
    this.element = make('div', { class: 'tip', 'aria-hidden': 'true', hidden: true })
    document.body.append(this.element)
    crosshair.followers.add(() => this.follow())
  }

  follow() {
    const { t, chart } = this.crosshair
    this.element.hidden = t === undefined || !chart || !chart.element.isConnected
    if (this.element.hidden) return
    const { span } = chart
    const near = [...span.marks, ...span.events].filter(one => Math.abs(chart.x(one.t) - chart.x(t)) <= NEAR_PX)
    this.element.replaceChildren(make('time', {}, clock(t, span.virtual)), ...near.slice(0, 4).map(one => make('span', { class: one.kind }, happenedWords(one))))
    const box = chart.svg.getBoundingClientRect()
    const left = Math.min(box.left + chart.x(t) + 8, innerWidth - this.element.offsetWidth - 8)
    this.element.style.transform = `translate(${Math.max(4, left).toFixed(0)}px, ${Math.max(4, box.top - this.element.offsetHeight - 2).toFixed(0)}px)`
  }
}

export class Chart {
  // `words` gives what a screen reader says of the crosshair's moment.
  constructor(label, height, crosshair, words, below = BELOW) {
    Object.assign(this, { height, crosshair, width: 0, ticks: [], levels: [], timed: below > 0 })
    this.layers = { grid: draw('g', { class: 'grid' }), data: draw('g') }
    this.marks = draw('path', { class: 'mark' })
    this.events = draw('path', { class: 'event' })
    this.cross = draw('path', { class: 'cross' })
    this.now = draw('path', { class: 'cross now' })
    this.rule = draw('path', { class: 'rule' })
    this.svg = draw('svg', { height: height + below, 'aria-hidden': 'true' }, Object.values(this.layers), this.rule, this.events, this.marks, this.now, this.cross)
    this.element = make('div', {
      class: 'plot', tabindex: 0, role: 'group', 'aria-label': `${label}. Left and right move through time.`,
      onpointermove: event => this.point(event), onpointerdown: event => this.point(event),
      onpointerleave: event => event.pointerType === 'mouse' && crosshair.move(undefined),
      onkeydown: event => this.key(event, words), onblur: () => crosshair.move(undefined),
    }, this.svg)
    sizes.set(this.element, this)
    observer.observe(this.element)
  }

  inner() { return Math.max(1, this.width - LEFT - RIGHT) }
  x(t) { return LEFT + (t - this.span.from) / (this.span.to - this.span.from) * this.inner() }

  point(event) {
    if (!this.span) return
    const { from, to } = this.span
    const share = (event.clientX - this.svg.getBoundingClientRect().left - LEFT) / this.inner()
    this.crosshair.move(share >= 0 && share <= 1.02 ? Math.min(to, from + share * (to - from)) : undefined, this)
  }

  key(event, words) {
    if (!this.span || event.ctrlKey || event.altKey || event.metaKey) return
    const { from, to, step } = this.span
    const here = this.crosshair.t === undefined ? to : this.crosshair.t
    const stride = Math.max(step, (to - from) / 120) * (event.shiftKey ? 10 : 1)
    const moved = { ArrowLeft: here - stride, ArrowRight: here + stride, Home: from, End: to, Escape: undefined }
    if (!(event.key in moved)) return
    event.preventDefault()
    const t = moved[event.key]
    this.crosshair.move(t === undefined ? t : Math.min(to, Math.max(from, t)), this)
    if (t !== undefined && words) say(document.getElementById('spoken'), words(t))
  }

  // Draws axes, marks and events of a span; `levels` are [y, label], y in pixels from the top.
  frame(span, levels) {
    this.span = span
    const wanted = (span.to - span.from) / 1000 / Math.max(2, Math.floor(this.inner() / TICK_PX))
    const stepMs = (STEPS_S.find(step => step >= wanted) || STEPS_S[STEPS_S.length - 1]) * 1000
    const times = []
    const zone = span.virtual ? 0 : new Date(span.to).getTimezoneOffset() * 60e3
    for (let t = Math.ceil((span.from - zone) / stepMs) * stepMs + zone; t <= span.to; t += stepMs) times.push(t)
    pool(this.layers.grid, this.ticks, times.length, () => {
      const [line, text] = [draw('path'), draw('text', { 'text-anchor': 'middle', y: this.height + 13 })]
      return { line, text, element: draw('g', { class: 'time' }, line, this.timed ? text : '') }
    })
    const end = this.width - RIGHT
    times.forEach((t, index) => {
      const x = this.x(t)
      set(this.ticks[index].line, 'd', `M${x.toFixed(1)} 0V${this.height + (this.timed ? 3 : 0)}`)
      if (!this.timed) return
      set(this.ticks[index].text, 'x', Math.min(Math.max(x, LEFT), end - 22).toFixed(1))
      say(this.ticks[index].text, clock(t, span.virtual))
    })
    pool(this.layers.grid, this.levels, levels.length, () => {
      const [line, text] = [draw('path'), draw('text', { 'text-anchor': 'end', x: LEFT - 6 })]
      return { line, text, element: draw('g', { class: 'level' }, line, text) }
    })
    levels.forEach(([y, label, name], index) => {
      const { line, text, element } = this.levels[index]
      set(element, 'class', name ? `level ${name}` : 'level')
      set(line, 'd', `M${LEFT} ${y.toFixed(1)}H${end}`)
      set(text, 'y', Math.min(Math.max(y + 4, 10), this.height).toFixed(1))
      say(text, label)
    })
    set(this.rule, 'd', levels.filter(([, , name]) => name).map(([y]) => `M${LEFT} ${y.toFixed(1)}H${end}`).join('') || undefined)
    const upright = (t, top, bottom) => `M${this.x(t).toFixed(1)} ${top}V${bottom}`
    set(this.marks, 'd', span.marks.map(({ t }) => upright(t, 0, this.height)).join('') || undefined)
    set(this.events, 'd', span.events.map(({ t }) => upright(t, this.height - 7, this.height)).join('') || undefined)
    set(this.now, 'd', span.now < span.to ? upright(span.now, 0, this.height) : undefined)
    this.follow()
  }

  follow() {
    const { t } = this.crosshair
    const there = t !== undefined && this.span && t >= this.span.from && t <= this.span.to
    set(this.cross, 'd', there ? `M${this.x(t).toFixed(1)} 0V${this.height}` : undefined)
  }

  // Areas that lie on each other. `layers` are [name of a CSS class, values of the groups].
  stack(groups, layers, top) {
    const [xs, from] = [groups.map(group => this.x(group.t)), groups.map(group => this.x(Math.max(group.begin, this.span.from)))]
    const below = new Float64Array(groups.length)
    const y = value => this.height - Math.min(value / top, 1.2) * this.height
    const paths = layers.map(([name, values]) => {
      let path = ''
      let back = ''
      const close = () => { path += back ? `${back}Z` : '' }
      groups.forEach((group, index) => {
        const low = y(below[index]).toFixed(1)
        below[index] += values[index]
        const high = y(below[index]).toFixed(1)
        if (group.broken) {
          close()
          path += `M${from[index].toFixed(1)} ${high}`
          back = `L${from[index].toFixed(1)} ${low}`
        }
        path += `L${xs[index].toFixed(1)} ${high}`
        back = `L${xs[index].toFixed(1)} ${low}${back}`
      })
      close()
      return [name, path]
    })
    this.paths(paths)
  }

  paths(paths) {
    const { data } = this.layers
    while (data.childElementCount > paths.length) data.lastElementChild.remove()
    while (data.childElementCount < paths.length) data.append(draw('path'))
    paths.forEach(([name, path], index) => {
      set(data.children[index], 'class', name)
      set(data.children[index], 'd', path || undefined)
    })
  }

  // A line through values, [lower, upper] where it is an area; undefined where nothing is known.
  line(groups, value, y) {
    let path = ''
    let on = false
    groups.forEach((group, index) => {
      const one = value(index)
      if (one === undefined) {
        on = false
        return
      }
      const [x, height] = [this.x(group.t).toFixed(1), y(one).toFixed(1)]
      path += on && !group.broken ? `L${x} ${height}` : `M${this.x(Math.max(group.begin, this.span.from)).toFixed(1)} ${height}L${x} ${height}`
      on = true
    })
    return path
  }

  band(groups, lower, upper, y) {
    let path = ''
    let back = ''
    groups.forEach((group, index) => {
      const [low, high] = [lower(index), upper(index)]
      const known = low !== undefined && high !== undefined
      if (back && (group.broken || !known)) {
        path += `${back}Z`
        back = ''
      }
      if (!known) return
      if (!back) {
        const x = this.x(Math.max(group.begin, this.span.from)).toFixed(1)
        path += `M${x} ${y(high).toFixed(1)}`
        back = `L${x} ${y(low).toFixed(1)}`
      }
      const x = this.x(group.t).toFixed(1)
      path += `L${x} ${y(high).toFixed(1)}`
      back = `L${x} ${y(low).toFixed(1)}${back}`
    })
    return back ? `${path}${back}Z` : path
  }
}

function pool(parent, items, wanted, create) {
  while (items.length > wanted) items.pop().element.remove()
  while (items.length < wanted) {
    items.push(create())
    parent.append(items[items.length - 1].element)
  }
}

const sizes = new WeakMap()
const observer = new ResizeObserver(entries => {
  for (const { target, contentRect } of entries) {
    const chart = sizes.get(target)
    if (chart.width === contentRect.width) continue
    chart.width = contentRect.width
    set(chart.svg, 'width', contentRect.width)
    dispatchEvent(new CustomEvent('resized'))
  }
})

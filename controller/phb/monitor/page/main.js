// The page: its state is the address behind '#', so that a view can be sent to a colleague.

import { Explain, Policy, Queues, TakingBack } from './asked.js'
import { Crosshair, Tip } from './chart.js'
import { Figures } from './figures.js'
import { Network, Strip } from './network.js'
import { Stream, ask, inside, messagesOf, path } from './source.js'
import { Store } from './store.js'
import { COLLATOR, CONDITIONS, at, clock, counted, isVirtual, make, say, set, visible } from './words.js'

const FRESH = { switch: '', view: 'figures', port: '', class: '', window: '300', from: '', find: '', sort: 'trouble', only: '', packet: '', file: '', line: '' }
const OF_A_SWITCH = ['view', 'port', 'class', 'packet', 'file', 'line']
const VIEWS = { figures: 'Figures', queues: 'Queues', explain: 'Explain', policy: 'Policy' }
const SORTS = ['trouble', 'groups', 'name', 'rate', 'delay']
const WINDOWS = { 60: '1 min', 300: '5 min', 900: '15 min', all: 'all' }
const SPEEDS = ['1', '2', '5', '10', '30', '60', '300']
const COLOURS = 12
const DRAW_MS = 200
const REST = 'class-default'
const inOrder = names => [...names].sort((one, other) => (one === REST) - (other === REST) || COLLATOR.compare(one, other))
const OVER_TIME = new Set(['figures', 'policy'])
const SERIES = 'series?seconds=900&most=900'

class Page {
  constructor() {
    this.store = new Store()
    this.crosshair = new Crosshair()
    this.tip = new Tip(this.crosshair)
    this.colours = new Map()
    this.speed = 10
    this.drawn = -Infinity
    this.state = this.parse()
    this.strip = new Strip(this)
    this.network = new Network(this)
    this.figures = new Figures(this)
    this.views = { figures: this.figures, queues: new Queues(this), explain: new Explain(this), policy: new Policy(this) }
    this.takingBack = new TakingBack(this)
    at('switch-actions').append(this.takingBack.button)
    this.controls()
    addEventListener('hashchange', () => this.arrive())
    addEventListener('resized', () => this.redraw())
    addEventListener('keydown', event => this.key(event))
  }

  controls() {
    at('tabs').append(...Object.entries(VIEWS).map(([view, name]) => make('a', { 'data-view': view }, name)))
    at('windows').append(...Object.entries(WINDOWS).map(([window, name]) => make('button', { type: 'button', 'data-window': window, onclick: () => this.go({ window, ...this.state.from ? { from: this.from(this.span().to, window) } : {} }, true) }, name)))
    at('pause').addEventListener('click', () => this.pause())
    at('moment').addEventListener('input', event => this.choose(Number(event.target.value)))
    at('play').addEventListener('click', () => this.play(!this.playing))
    at('speed').append(...SPEEDS.map(speed => make('option', { value: speed, selected: speed === String(this.speed) }, `${speed}×`)))
    at('speed').addEventListener('change', event => { this.speed = Number(event.target.value) })
    at('tests').addEventListener('change', event => event.target.value && this.choose(Number(event.target.value) + 1))
    // Whose login has ended gets to the form.
    at('reload').addEventListener('click', () => location.reload())
    at('theme').addEventListener('click', () => this.theme())
    try {
      this.dress(localStorage.getItem('phb-theme'))
    } catch {
      this.dress('')
    }
  }

  parse() {
    const asked = new URLSearchParams(location.hash.slice(1))
    const state = { ...FRESH }
    for (const name of Object.keys(FRESH)) if (asked.has(name)) state[name] = asked.get(name)
    if (!Object.hasOwn(VIEWS, state.view)) state.view = FRESH.view
    if (!Object.hasOwn(WINDOWS, state.window)) state.window = FRESH.window
    if (!SORTS.includes(state.sort)) state.sort = FRESH.sort
    if (!Object.hasOwn(CONDITIONS, state.only)) state.only = FRESH.only
    if (state.from !== '' && !Number.isFinite(Number(state.from))) state.from = ''
    return state
  }

  // The address of a state that differs from the present one; another switch begins with fresh views.
  hash(changed) {
    const kept = 'switch' in changed && changed.switch !== this.state.switch ? Object.fromEntries(OF_A_SWITCH.map(name => [name, FRESH[name]])) : {}
    const state = { ...this.state, ...kept, ...changed }
    const parameters = new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== FRESH[name]))
    return `#${parameters}`
  }

  // `quietly`: no entry in the browser's history.
  go(changed, quietly = false) {
    const hash = this.hash(changed)
    if (quietly) {
      history.replaceState(undefined, '', hash)
      this.state = this.parse()
      this.schedule()
    } else if (location.hash === hash || (hash === '#' && !location.hash)) this.schedule()
    else location.hash = hash
  }

  arrive() {
    const before = this.state
    this.state = this.parse()
    if (!this.store.hello) return
    const elsewhere = before.switch !== this.state.switch
    if (elsewhere) this.enter()
    else if (before.view !== this.state.view) this.views[this.state.view].begin()
    else if (this.state.view === 'policy') this.views.policy.jump()
    if (this.state.from) this.restore()
    this.redraw()
    if (!elsewhere) return
    scrollTo(0, 0)
    at(this.state.switch ? 'switch-h' : 'network-h').focus({ preventScroll: true })
  }

  // A switch, or the network, is shown from now on.
  enter() {
    const { switch: name } = this.state
    this.crosshair.move(undefined)
    this.figures.begin()
    this.loading = undefined
    this.colours.clear()
    if (this.stream && (this.stream.name || '') !== name) this.stream.open(name)
    else if (name) this.fill()
    if (name && this.known()) this.views[this.state.view].begin()
  }

  known() { return this.store.infos.has(this.state.switch) }

  take(message) {
    if (message.kind === 'hello') return this.greet(message)
    if (!this.store.hello) return undefined
    this.store.take(message)
    return this.schedule()
  }

  greet(hello) {
    const first = !this.store.hello
    const kept = !first && JSON.stringify([hello.switches, hello.links]) === this.shape
    this.shape = JSON.stringify([hello.switches, hello.links])
    this.store.take(hello)
    this.virtual = isVirtual(hello.recording || { last: hello.now })
    document.title = visible(hello.title) || 'phb'
    say(at('title'), document.title)
    if (!kept) this.network.begin()
    document.body.classList.toggle('recorded', Boolean(hello.recording))
    if (hello.recording) return this.record(hello.recording)
    if (first && this.state.switch && this.known()) this.views[this.state.view].begin()
    if (this.state.from) this.restore()
    this.fill()
    return this.schedule()
  }

  // The last minutes of the switch that is shown; those that came meanwhile stay.
  async fill() {
    const { switch: name } = this.state
    if (!name || !this.known() || this.store.hello.recording) return
    this.loading = name
    try {
      const answer = await ask(path(name, SERIES))
      for (const detail of Array.isArray(answer) ? answer : answer.details || []) this.store.take({ kind: 'detail', switch: name, ...detail })
    } catch (error) {
      say(at('spoken'), `The last minutes can't be read: ${visible(error.message)}`)
    }
    if (this.loading === name) this.loading = undefined
    this.schedule()
  }

  async record(recording) {
    if (this.stream) this.stream.end()
    this.stream = undefined
    const element = at('data')
    say(at('state'), 'reading the recording …')
    try {
      if (!this.messages) this.messages = element ? await inside(element) : messagesOf(await (await fetch('recording')).text())
    } catch (error) {
      return say(at('state'), `The recording can't be read: ${visible(error.message)}`)
    }
    this.store.load(this.messages)
    this.messages = undefined
    this.store.moment = this.state.from ? this.until() : recording.last
    set(at('moment'), 'min', recording.first)
    set(at('moment'), 'max', recording.last)
    set(at('moment'), 'step', 1000 * this.store.hello.interval)
    at('recorded').hidden = false
    at('live').hidden = true
    const tests = this.store.tests()
    at('tests').hidden = tests.length < 2
    at('tests').replaceChildren(...tests.map(({ t, message }) => make('option', { value: t }, visible(message, 60))))
    if (this.state.switch && this.known()) this.views[this.state.view].begin()
    return this.schedule()
  }

  from(to, window) { return window === 'all' ? '' : String(Math.round(to - Number(window) * 1000)) }
  until() { return this.state.window === 'all' ? this.store.hello.recording.last : Number(this.state.from) + Number(this.state.window) * 1000 }
  restore() { if (this.store.hello.recording) this.store.moment = this.until() }
  paused() { return Boolean(this.state.from) }

  pause() {
    if (this.state.from) this.go({ from: '' })
    else this.go({ from: this.from(this.store.latest, this.state.window) })
  }

  choose(moment, quiet = true) {
    const { first, last } = this.store.hello.recording
    this.store.moment = Math.min(last, Math.max(first, moment))
    // Browsers bound how often the address may change.
    clearTimeout(this.naming)
    this.naming = setTimeout(() => this.go({ from: this.from(this.store.moment, this.state.window) }, quiet), 400)
    this.schedule()
  }

  play(playing) {
    this.playing = playing
    clearInterval(this.player)
    const { last, first } = this.store.hello.recording
    if (playing && this.store.moment >= last) this.store.moment = first
    let before = performance.now()
    if (playing) {
      this.player = setInterval(() => {
        const now = performance.now()
        this.store.moment = Math.min(last, this.store.moment + (now - before) * this.speed)
        before = now
        if (this.store.moment >= last) this.play(false)
        this.schedule()
      }, 100)
    } else if (this.store.moment < last) this.choose(this.store.moment)
    this.schedule()
  }

  // What is shown of time, and what happened in it.
  span() {
    const { store, state } = this
    const { recording, interval } = store.hello
    const paused = state.from && !recording && state.window !== 'all'
    const to = paused ? this.until() : store.until()
    const all = state.window === 'all'
    const from = all ? recording ? recording.first : to - 900e3 : to - Number(state.window) * 1000
    const happened = store.happened(state.switch, from - 1, all && recording ? recording.last : to)
    return {
      name: state.switch, from, to: all && recording ? recording.last : to, now: to, step: interval * 1000, virtual: this.virtual,
      marks: happened.filter(one => one.kind === 'mark'), events: happened.filter(one => one.kind === 'event'),
    }
  }

  // Classes of the switch in the order of their names; each keeps its colour.
  classes() {
    const here = this.store.detail(this.state.switch, this.store.latest)
    const queued = here ? Object.values(here.ports).flatMap(port => Object.keys(port.queues)) : []
    const fresh = [...here ? Object.keys(here.classes) : [], ...queued].filter(name => !this.colours.has(name))
    for (const name of inOrder(fresh)) this.colour(name)
    return inOrder(this.colours.keys())
  }

  colour(name) {
    if (!this.colours.has(name)) {
      const used = [...this.colours.values()].filter(colour => colour !== 'cd').length
      this.colours.set(name, name === REST ? 'cd' : `c${used % COLOURS}`)
    }
    return this.colours.get(name)
  }

  // However fast messages come, the page is drawn some times a second.
  schedule() {
    if (this.scheduled) return
    this.scheduled = true
    const wait = DRAW_MS - (performance.now() - this.drawn)
    if (wait > 0) setTimeout(() => requestAnimationFrame(() => this.redraw()), wait)
    else requestAnimationFrame(() => this.redraw())
  }

  redraw() {
    this.scheduled = false
    const { store, state } = this
    if (!store.hello) return
    const began = this.drawn = performance.now()
    performance.clearMeasures('draw')
    this.strip.update()
    const known = this.known()
    at('network').hidden = Boolean(state.switch)
    at('switch').hidden = !state.switch
    at('time').hidden = !store.hello.recording && (!state.switch || !OVER_TIME.has(state.view))
    for (const button of at('windows').children) {
      set(button, 'aria-pressed', String(button.dataset.window === state.window))
      button.hidden = button.dataset.window === 'all' && !store.hello.recording
    }
    this.times()
    if (!state.switch) this.network.update()
    else if (known) this.one()
    else {
      say(at('switch-h'), visible(state.switch))
      say(at('switch-told'), 'There is no switch of this name.')
      at('view').replaceChildren()
    }
    performance.measure('draw', { start: began })
    document.documentElement.dataset.ready = 'yes'
  }

  times() {
    const { store, state } = this
    const test = store.tests().findLast(one => one.t <= store.until())
    if (store.hello.recording) {
      set(at('play'), 'aria-label', this.playing ? 'pause' : 'play')
      say(at('play'), this.playing ? '❚❚' : '▶')
      const step = 1000 * store.hello.interval
      const { first, last } = store.hello.recording
      const moment = clock(Math.floor((store.moment - first) / step) * step, true)
      at('moment').value = store.moment
      set(at('moment'), 'aria-valuetext', moment)
      say(at('at'), `${moment} of ${clock(last - first, true)}`)
      at('tests').value = test ? test.t : ''
      say(at('state'), test ? visible(test.message) : 'recording')
      set(at('state'), 'class', '')
      return
    }
    set(at('pause'), 'aria-pressed', String(Boolean(state.from)))
    say(at('pause'), state.from ? 'Go on' : 'Pause')
    if (this.lost) return
    say(at('state'), state.from && state.window !== 'all' ? `paused at ${clock(this.until(), this.virtual)}` : `live ${clock(store.latest, this.virtual)}${test ? ` · ${visible(test.message)}` : ''}`)
    set(at('state'), 'class', state.from ? '' : 'on')
  }

  one() {
    const { store, state } = this
    const span = this.span()
    const here = store.detail(state.switch, span.to)
    const { condition, unmet } = store.summary(state.switch)
    const info = store.infos.get(state.switch)
    say(at('switch-h'), visible(state.switch))
    const words = { okay: 'okay', waiting: 'no figures yet', away: `away${here && here.away ? `: ${visible(here.away)}` : ''}`, 'not-achieved': `${counted(unmet, 'objective')} not achieved` }
    say(at('switch-told'), [words[condition], visible(info.address), info.groups.map(group => visible(group)).join(', '), this.loading ? 'reading the last minutes …' : ''].filter(Boolean).join(' · '))
    set(at('switch-told'), 'class', condition)
    for (const tab of at('tabs').children) {
      set(tab, 'href', this.hash({ view: tab.dataset.view }))
      set(tab, 'aria-current', tab.dataset.view === state.view && 'page')
    }
    at('tabs').hidden = Boolean(store.hello.recording)
    set(at('back'), 'href', this.hash({ switch: '' }))
    const { element } = this.views[state.view]
    if (element.parentElement !== at('view')) at('view').replaceChildren(element)
    this.views[state.view].update(span)
    this.takingBack.update()
  }

  // `since` is when the connection was lost, undefined while it is there.
  connection(since, wait) {
    this.lost = since !== undefined
    at('lost').hidden = !this.lost
    if (!this.lost) return
    say(at('lost-words'), `No connection since ${clock(since)}. Figures stand as they were.`)
    say(at('lost-again'), wait > 0 ? `Next attempt in ${Math.ceil(wait / 1000)} s.` : 'Trying …')
    say(at('state'), 'not connected')
    set(at('state'), 'class', 'off')
  }

  key(event) {
    const { target } = event
    if (event.ctrlKey || event.altKey || event.metaKey || target.closest('input, select, textarea, dialog')) return
    const keys = {
      '/': () => !this.state.switch && at('find').focus(),
      p: () => this.store.hello && !at('time').hidden && (this.store.hello.recording ? this.play(!this.playing) : this.pause()),
      u: () => this.go({ switch: '' }),
    }
    if (!keys[event.key]) return
    event.preventDefault()
    keys[event.key]()
  }

  theme() {
    const order = ['', 'light', 'dark']
    const theme = order[(order.indexOf(document.documentElement.dataset.theme || '') + 1) % order.length]
    this.dress(theme)
    try {
      localStorage.setItem('phb-theme', theme)
    } catch {
      // A browser that keeps nothing forgets it.
    }
  }

  dress(theme) {
    const known = theme === 'light' || theme === 'dark' ? theme : ''
    set(document.documentElement, 'data-theme', known || undefined)
    say(at('theme'), { '': '◐', light: '☀', dark: '☾' }[known])
    set(at('theme'), 'aria-label', `Colours: ${known || 'as the system'}`)
    set(at('theme'), 'title', `Colours: ${known || 'as the system'}`)
  }
}

const page = new Page()
if (at('data')) {
  inside(at('data')).then(messages => {
    page.messages = messages.slice(1)
    page.take(messages[0])
  }).catch(error => say(at('state'), `The recording can't be read: ${visible(error.message)}`))
} else {
  page.stream = new Stream(message => page.take(message), (since, wait) => page.connection(since, wait))
  page.stream.open(page.state.switch)
}

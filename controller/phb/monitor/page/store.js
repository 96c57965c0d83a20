// What has been told: switches, their figures over time, events and marks; of a recording at any moment of it.

const HISTORY_MS = 16 * 60e3
const MOST_TICKS = 180
const MOST_EVENTS = 500

// The index of the first of sorted messages that is later than a time.
export function after(messages, t) {
  let [low, high] = [0, messages.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (messages[middle].t <= t) low = middle + 1
    else high = middle
  }
  return low
}

// Puts a message where its time belongs; one of the same time gives way to it.
function place(messages, message, isSame = () => true) {
  const end = after(messages, message.t)
  for (let index = end - 1; index >= 0 && messages[index].t === message.t; index -= 1) {
    if (!isSame(messages[index])) continue
    messages[index] = message
    return
  }
  messages.splice(end, 0, message)
}

// A switch in one look, of all that is known of it: recordings have no ticks.
export function summaryOf(detail) {
  if (detail.summary) return detail.summary
  const unmet = detail.objectives.filter(one => one.state === 'not-achieved').length
  const delays = Object.values(detail.classes).map(one => one.delays && one.delays['99']).filter(delay => delay !== null && delay !== undefined)
  const summary = {
    condition: detail.away !== undefined ? 'away' : unmet ? 'not-achieved' : 'okay',
    bps: Object.values(detail.ports).reduce((sum, port) => sum + port.bps, 0),
    dropped: Object.values(detail.classes).reduce((sum, one) => sum + Object.values(one.dropped).reduce((all, pps) => all + pps, 0), 0),
    delay: delays.length ? Math.max(...delays) : null,
    unmet,
  }
  Object.defineProperty(detail, 'summary', { value: summary })
  return summary
}

const WAITING = { condition: 'waiting', bps: 0, dropped: 0, delay: null, unmet: 0 }

export class Store {
  constructor() {
    this.begin({ title: '', now: 0, interval: 1, writable: false, switches: [], links: [] })
    this.hello = undefined
  }

  // A connection begins anew: what is still true of the time before is kept, so that charts show a gap and go on.
  begin(hello) {
    const same = this.hello && this.hello.title === hello.title && !hello.recording === !this.hello.recording
    this.hello = hello
    this.latest = hello.now
    this.infos = new Map(hello.switches.map(info => [info.name, info]))
    const old = same ? this.told : new Map()
    this.told = new Map(hello.switches.map(({ name }) => [name, old.get(name) || { details: [], ticks: [], events: [], marks: [] }]))
    if (!same) [this.events, this.everywhere] = [[], []]
    this.moment = undefined
  }

  take(message) {
    if (message.kind === 'hello') return this.begin(message)
    this.latest = Math.max(this.latest, message.t)
    if (message.kind === 'tick') {
      for (const [name, summary] of Object.entries(message.switches)) {
        const told = this.told.get(name)
        if (!told) continue
        place(told.ticks, { t: message.t, ...summary })
        if (told.ticks.length > MOST_TICKS) told.ticks.shift()
      }
      return undefined
    }
    const told = this.told.get(message.switch)
    if (message.kind === 'detail' && told) {
      place(told.details, message)
      this.prune(told.details)
    } else if (message.kind === 'event') {
      const isSame = one => one.switch === message.switch && one.event === message.event && one.message === message.message
      place(this.events, message, isSame)
      // What is of no switch happened to all of them.
      const own = told ? told.events : message.switch ? [] : this.everywhere
      place(own, message, isSame)
      if (!this.hello.recording) for (const events of [this.events, own]) if (events.length > MOST_EVENTS) events.shift()
    } else if (message.kind === 'mark' && told) place(told.marks, message, one => one.number === message.number)
    return undefined
  }

  prune(details) {
    if (this.hello.recording) return
    const old = after(details, this.latest - HISTORY_MS)
    if (old > 30) details.splice(0, old)
  }

  // A whole recording, sorted once.
  load(messages) {
    for (const message of messages) {
      const told = this.told.get(message.switch)
      if (message.kind === 'detail' && told) told.details.push(message)
      else if (message.kind === 'event' || message.kind === 'mark') this.take(message)
    }
    for (const { details } of this.told.values()) details.sort((one, other) => one.t - other.t)
  }

  // Until when is shown: of a recording the moment that is chosen.
  until() { return this.moment === undefined ? this.latest : this.moment }

  names() { return [...this.infos.keys()] }

  summary(name, t = this.until()) {
    const told = this.told.get(name)
    if (!told) return WAITING
    if (this.hello.recording) {
      const index = after(told.details, t)
      return index ? summaryOf(told.details[index - 1]) : WAITING
    }
    return told.ticks[told.ticks.length - 1] || WAITING
  }

  // Rates of the last `ms`, for a small picture.
  rates(name, ms) {
    const told = this.told.get(name)
    if (!told) return []
    const t = this.until()
    const messages = this.hello.recording ? told.details : told.ticks
    return messages.slice(after(messages, t - ms), after(messages, t))
  }

  details(name, from, to) {
    const { details } = this.told.get(name) || { details: [] }
    return details.slice(after(details, from), after(details, to))
  }

  // The newest detail until a time.
  detail(name, t) {
    const { details } = this.told.get(name) || { details: [] }
    return details[after(details, t) - 1]
  }

  happened(name, from, to) {
    const { events, marks } = this.told.get(name) || { events: [], marks: [] }
    return [events, this.everywhere, marks].flatMap(all => all.slice(after(all, from), after(all, to))).sort((one, other) => one.t - other.t)
  }

  // Where tests of a lab's run begin.
  tests() { return this.everywhere.filter(one => one.event === 'test') }

  // The newest counts of rules until a time: those of the past aren't kept.
  rules(name, t) {
    const { details } = this.told.get(name) || { details: [] }
    return details.slice(0, after(details, t)).findLast(detail => detail.policies && detail.policies.length)?.policies
  }

  lastMark(name) {
    const { marks } = this.told.get(name) || { marks: [] }
    return marks[after(marks, this.until()) - 1]
  }

  lastEvent() { return this.events[after(this.events, this.until()) - 1] }
}

// What is asked of the server for one switch: queue contents, explanations, the policy's text; and taking back a push.

import { ask, path } from './source.js'
import { at, bits, changes, clock, count, counted, make, packets, say, set, visible } from './words.js'

const EXAMPLES = [
  'tcp 192.0.2.1:1024 > 198.51.100.2:80 dscp af31 length 1440',
  'udp 192.0.2.1:5004 > 198.51.100.2:5004 dscp ef length 200',
  'icmp 192.0.2.1 > 198.51.100.2 length 84',
]
const MOST_LINES = 20000
const MOST_RULES = 500
const MOST_CONVERSATIONS = 50
const QUEUES_MS = 1000

const PROTOCOLS = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6' }
const flowWords = flow => !flow ? '' : `${PROTOCOLS[flow.protocol] || `protocol ${visible(flow.protocol)}`} ${visible(flow.source) || '?'}:${visible(flow.source_port)} > ${visible(flow.destination) || '?'}:${visible(flow.destination_port)}`

export class Queues {
  constructor(page) {
    this.page = page
    this.tables = make('div')
    this.wrong = make('p', { class: 'wrong', role: 'alert' })
    this.when = make('p', { class: 'muted' })
    this.element = make('section', { 'aria-label': 'Queues' }, this.when, this.wrong, this.tables)
  }

  begin() {
    this.tables.replaceChildren()
    say(this.when, 'Asking the switch …')
    this.asked = undefined
  }

  // Each second while it is open, but never twice at once: a slow switch is asked as often as it answers.
  async update() {
    const now = performance.now()
    if (this.page.store.hello.recording) return say(this.when, 'A recording has no queue contents; how many packets wait stands beside the ports.')
    if (this.page.paused() || (this.asked !== undefined && now - this.asked < QUEUES_MS * 0.9)) return undefined
    this.asked = Infinity
    const { switch: name } = this.page.state
    try {
      const answer = await ask(path(name, 'queues'))
      if (name === this.page.state.switch) this.show(Array.isArray(answer) ? answer : answer.ports || [])
      say(this.wrong, '')
    } catch (error) {
      if (name === this.page.state.switch) say(this.wrong, `The queues can't be read: ${visible(error.message)}`)
    }
    this.asked = performance.now()
    return undefined
  }

  show(ports) {
    say(this.when, ports.length ? `As they are at ${clock(Date.now())}.` : 'No port has a scheduler of its own.')
    const opened = new Set([...this.tables.querySelectorAll('details[open]')].map(element => element.dataset.key))
    const focused = document.activeElement && document.activeElement.closest('details') ? document.activeElement.closest('details').dataset.key : undefined
    this.tables.replaceChildren(...ports.map(port => this.port(port, opened)))
    if (focused) for (const element of this.tables.querySelectorAll('details')) if (element.dataset.key === focused) element.firstElementChild.focus()
  }

  port(port, opened) {
    const limit = value => value === null || value === undefined ? 'unlimited' : count(value)
    const rows = port.queues.map(queue => {
      const name = visible(queue.class) || 'all traffic'
      const conversations = queue.conversations.filter(one => one.depth > 0).sort((one, other) => other.depth - one.depth)
      const key = JSON.stringify([port.name, queue.class])
      const detail = conversations.length
        ? make('details', { 'data-key': key, open: opened.has(key) }, make('summary', {}, counted(conversations.length, 'conversation')),
          make('table', {}, head(['conversation', 'waiting', 'weight', 'flow']), make('tbody', {}, conversations.slice(0, MOST_CONVERSATIONS).map(one => make('tr', {},
            make('td', {}, visible(one.conversation)), number(count(one.depth)), number(one.weight === null || one.weight === undefined ? '–' : count(one.weight)), make('td', {}, flowWords(one.flow)))))),
          conversations.length > MOST_CONVERSATIONS ? make('p', { class: 'muted' }, `and ${conversations.length - MOST_CONVERSATIONS} more`) : '')
        : ''
      const share = queue.limit ? Math.min(1, queue.depth / queue.limit) : 0
      const level = queue.level === null || queue.level === undefined ? 'by share' : `level ${visible(queue.level)}`
      const meter = make('meter', { min: 0, max: 1, value: share, high: 0.8, 'aria-label': `filled of ${name}` })
      return make('tr', {}, make('th', { scope: 'row' }, name), number(count(queue.depth)), number(limit(queue.limit)), make('td', {}, queue.limit ? meter : ''),
        make('td', {}, `${visible(queue.strategy)}, ${level}`), number(count(queue.drops)), make('td', {}, detail))
    })
    const told = [visible(port.strategy), port.hold_queue ? `${count(port.depth)} of ${counted(port.hold_queue, 'packet')} wait` : `${counted(port.depth, 'packet')} waiting`].join(' · ')
    return make('section', {}, make('h3', {}, visible(port.name)), make('p', { class: 'muted' }, told),
      make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `queues of ${visible(port.name)}` }, make('table', {}, head(['class', 'waiting', 'limit', 'filled', 'served', 'dropped', 'conversations']), make('tbody', {}, rows))))
  }
}

const NUMBERS = new Set(['waiting', 'limit', 'dropped', 'weight'])
const head = names => make('thead', {}, make('tr', {}, names.map(name => make('th', { scope: 'col', class: NUMBERS.has(name) && 'number' }, name))))
const number = text => make('td', { class: 'number' }, text)

export class Explain {
  constructor(page) {
    this.page = page
    this.input = make('input', { id: 'packet', type: 'text', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', maxlength: 4000 })
    this.wrong = make('p', { class: 'wrong', role: 'alert' })
    this.answer = make('div', { role: 'status' })
    const examples = EXAMPLES.map(text => make('button', { type: 'button', class: 'link', onclick: () => {
      this.input.value = text
      this.input.focus()
    } }, text))
    this.form = make('form', { class: 'explain', onsubmit: event => {
      event.preventDefault()
      this.ask()
    } }, make('label', { for: 'packet' }, 'What would happen to this packet?'), make('p', { class: 'line' }, this.input, make('button', {}, 'Explain')),
    make('p', { class: 'examples' }, make('span', { class: 'muted' }, 'for example'), examples))
    this.element = make('section', { 'aria-label': 'Explain a packet' }, this.form, this.wrong, this.answer)
  }

  begin() {
    this.answer.replaceChildren()
    say(this.wrong, '')
    this.input.value = this.page.state.packet
    const { recording } = this.page.store.hello
    this.form.hidden = Boolean(recording)
    if (recording) this.answer.replaceChildren(make('p', { class: 'muted' }, 'A recording has no switch that could be asked.'))
    else if (this.input.value) this.ask()
  }

  update() { }

  async ask() {
    const packet = this.input.value.trim()
    if (!packet) return
    const { switch: name } = this.page.state
    this.page.go({ packet }, true)
    say(this.wrong, '')
    this.answer.replaceChildren(make('p', { class: 'muted' }, 'Asking …'))
    let [shown, wrong] = [[], '']
    try {
      const answer = await ask(`api/explain?switch=${encodeURIComponent(name)}&packet=${encodeURIComponent(packet)}`)
      if (answer.error) wrong = visible(answer.error, 2000)
      else shown = (answer.packets || [answer]).map(one => this.explanation(one, answer))
    } catch (error) {
      wrong = visible(error.message, 2000)
    }
    if (name !== this.page.state.switch) return
    say(this.wrong, wrong)
    this.answer.replaceChildren(...shown)
  }

  explanation(told, answer) {
    const rule = one => one ? [visible(one.rule), ' ', this.source(one.file, one.line)] : 'none'
    const buckets = Object.entries(told.tokens || {}).map(([name, { before, after }]) => `${visible(name)} ${count(before)} → ${count(after)} bytes`)
    const same = told.dscp && told.dscp.before === told.dscp.after
    const rows = [
      ['outcome', told.drop_reason ? `dropped: ${visible(told.drop_reason)} (${visible(told.decided_by)})` : `to ${visible(told.egress_port)}`],
      ['input rule', rule(told.input_rule)],
      ['output rule', rule(told.output_rule)],
      ['class', visible(told.class)],
      ['meter', [visible(told.colour), ...buckets].join(', ')],
      ['marks', told.dscp ? same ? `${visible(told.dscp.before)}, as it came` : `${visible(told.dscp.before)} → ${visible(told.dscp.after)}` : ''],
      ['queue', told.queue ? `${visible(told.queue)}, level ${visible(told.level)}, weight ${visible(told.weight)}, rank ${visible(told.rank)}` : 'none'],
    ]
    const steps = (told.steps || []).map(step => make('li', {}, make('b', {}, visible(step.stage)), ' ', visible(step.words, 1000), ' ', this.source(step.file, step.line)))
    const notes = (answer.warnings || []).map(one => make('li', {}, visible(typeof one === 'string' ? one : one.message || one, 1000)))
    return make('article', {},
      make('h3', { class: told.drop_reason ? 'dropped' : '' }, `${visible(told.endpoints)}, ${count(told.length)} bytes, in ${visible(told.ingress_port)} → ${told.drop_reason ? `dropped: ${visible(told.drop_reason)}` : visible(told.egress_port)}`),
      make('dl', {}, rows.map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])),
      make('h4', {}, 'Step by step'), make('ol', { class: 'steps' }, steps),
      (told.objectives || []).length ? [make('h4', {}, 'Objectives'), make('ul', {}, told.objectives.map(one => make('li', {}, `${visible(one.of)}: ${visible(one.words, 500)} `, this.source(one.file, one.line))))] : '',
      notes.length ? [make('h4', {}, 'Notes'), make('ul', {}, notes)] : '')
  }

  source(file, line) {
    if (!file) return ''
    return make('a', { href: this.page.hash({ view: 'policy', file, line: String(line) }), class: 'source' }, `${visible(file)}:${visible(line)}`)
  }
}

export class Policy {
  constructor(page) {
    this.page = page
    this.files = make('div', { class: 'files' })
    this.wrong = make('p', { class: 'wrong', role: 'alert' })
    this.element = make('section', { 'aria-label': 'Policy' }, this.wrong, this.files)
  }

  async begin() {
    this.cells = []
    this.files.replaceChildren(make('p', { class: 'muted' }, 'Asking for the policy …'))
    say(this.wrong, '')
    if (this.page.store.hello.recording) return this.files.replaceChildren(make('p', { class: 'muted' }, 'A recording has no policy files.'))
    const { switch: name } = this.page.state
    try {
      const answer = await ask(path(name, 'policy'))
      if (name === this.page.state.switch) this.show(answer)
    } catch (error) {
      if (name !== this.page.state.switch) return undefined
      this.files.replaceChildren()
      say(this.wrong, `There is no policy to show: ${visible(error.message)}`)
    }
    return undefined
  }

  show({ files, rules }) {
    const byLine = new Map()
    for (const { rule, direction, file, line } of rules) {
      const key = JSON.stringify([file, line])
      byLine.set(key, [...byLine.get(key) || [], { rule, direction }])
    }
    this.lines = new Map()
    this.cells = []
    this.files.replaceChildren(...files.map(({ path: file, lines }) => this.file(file, lines, byLine)))
    if (!files.length) this.files.replaceChildren(make('p', { class: 'muted' }, 'The monitor knows no policy files of this switch.'))
    this.update(this.page.span())
    this.jump()
  }

  file(file, lines, byLine) {
    let block
    const rows = lines.slice(0, MOST_LINES).map((text, index) => {
      const key = JSON.stringify([file, index + 1])
      const rules = byLine.get(key)
      const indent = text.search(/\S/)
      if (block && !rules && indent >= 0 && indent <= block.indent) block = undefined
      const counters = make('td', { class: 'counters' })
      const row = make('tr', {}, make('td', { class: 'line' }, String(index + 1)), counters, make('td', { class: 'text' }, text.replace(/[^\P{C}\t]/gu, letter => visible(letter))))
      if (rules) {
        block = { indent: Math.max(indent, 0), rules, counters, rows: [row] }
        this.cells.push(block)
      } else if (block) block.rows.push(row)
      this.lines.set(key, row)
      return row
    })
    return make('section', {}, make('h3', {}, visible(file)),
      lines.length > MOST_LINES ? make('p', { class: 'muted' }, `The first ${count(MOST_LINES)} of ${count(lines.length)} lines.`) : '',
      make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `text of ${visible(file)}` },
        make('table', { class: 'code' }, make('thead', { class: 'visually-hidden' }, make('tr', {}, ['line', 'counters', 'text'].map(name => make('th', { scope: 'col' }, name)))), make('tbody', {}, rows))))
  }

  // Goes to the line that the address names.
  jump() {
    const { file, line } = this.page.state
    const key = JSON.stringify([file, Number(line)])
    for (const row of this.element.querySelectorAll('tr[aria-current]')) row.removeAttribute('aria-current')
    const row = file && this.lines && this.lines.get(key)
    if (!row) return
    row.setAttribute('aria-current', 'true')
    row.scrollIntoView({ block: 'center' })
  }

  update(span) {
    const told = this.page.store.rules(span.name, span.to)
    if (!told) return
    const known = new Map(told.map(one => [JSON.stringify([one.rule, one.direction]), one]))
    for (const { rules, counters, rows } of this.cells) {
      const found = rules.map(({ rule, direction }) => known.get(JSON.stringify([rule, direction]))).filter(Boolean)
      const sum = of => found.reduce((all, one) => all + (one[of] || 0), 0)
      // Rules without traffic aren't told of, nor those beyond the most busy ones.
      const never = !found.length && told.length < MOST_RULES
      say(counters, !found.length ? never ? 'never' : '' : `${packets(sum('pps')).replace('/s', ' packets/s')} · ${bits(sum('bps'))}${sum('dropped') > 0 ? ` · ${packets(sum('dropped'))} dropped` : ''}`)
      set(counters, 'title', found.length ? found.map(one => `${visible(one.rule)} ${visible(one.direction)}: ${count(one.packets)} packets, ${count(one.bytes)} bytes since counting began, class ${visible(one.traffic_class)}`).join('; ') : undefined)
      for (const row of rows) set(row, 'class', never && 'never')
    }
  }
}

// Asks before it asks the switch: what was changed, by whom, when.
export class TakingBack {
  constructor(page) {
    this.page = page
    this.words = make('p')
    this.wrong = make('p', { class: 'wrong', role: 'alert' })
    this.yes = make('button', { type: 'button', class: 'danger', onclick: () => this.ask() }, 'Take it back')
    this.element = make('dialog', { 'aria-labelledby': 'taking-back' }, make('h2', { id: 'taking-back' }), this.words, this.wrong,
      make('p', { class: 'choices' }, make('button', { type: 'button', autofocus: true, onclick: () => this.element.close() }, 'Leave it'), this.yes))
    this.button = make('button', { type: 'button', hidden: true, onclick: () => this.open() }, 'Take back the last push …')
    document.body.append(this.element)
  }

  update() {
    const { store, state } = this.page
    this.button.hidden = !store.hello.writable || !store.lastMark(state.switch)
  }

  open() {
    const { store, state, virtual } = this.page
    const mark = store.lastMark(state.switch)
    this.name = state.switch
    this.number = mark.number
    say(at('taking-back'), `Take back push ${visible(mark.number)} of ${visible(this.name)}?`)
    say(this.words, `${visible(mark.user) || 'Somebody'} made it at ${clock(mark.t, virtual)} (${visible(mark.command)}): ${changes(mark)}. The switch gets the entries back that it had before. That is a push of its own, which stands in the history.`)
    say(this.wrong, '')
    this.yes.disabled = false
    this.element.showModal()
  }

  async ask() {
    this.yes.disabled = true
    say(this.wrong, 'Asking the switch …')
    try {
      await ask(path(this.name, 'rollback'), { method: 'POST', headers: { 'X-Phb': 'page', 'Content-Type': 'application/json' }, body: JSON.stringify({ push: this.number }) })
      this.element.close()
    } catch (error) {
      say(this.wrong, `It was not taken back: ${visible(error.message, 1000)}`)
      this.yes.disabled = false
    }
  }
}

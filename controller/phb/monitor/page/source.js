// Where messages come from: a server, whose connection may go and come, or a recording.

const KINDS = ['hello', 'tick', 'detail', 'event', 'mark']
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 15000
const SILENCE_MS = 12000
const ANSWER_MS = 15000

// A stream of one switch's details and all switches' ticks. After an error it is opened again, later each time.
export class Stream {
  constructor(take, changed) {
    Object.assign(this, { take, changed, wait: FIRST_WAIT_MS, since: undefined, heard: Date.now() })
    this.listener = setInterval(() => this.listen(), 1000)
  }

  // A recording is told at once: nothing more comes.
  end() {
    clearInterval(this.listener)
    this.close()
  }

  open(name) {
    this.close()
    this.name = name
    this.source = new EventSource(name ? `events?switch=${encodeURIComponent(name)}` : 'events')
    const { source } = this
    this.heard = Date.now()
    for (const kind of KINDS) {
      source.addEventListener(kind, event => {
        if (source !== this.source) return
        this.heard = Date.now()
        if (kind === 'hello') this.wait = FIRST_WAIT_MS
        if (this.since) this.tell(undefined)
        this.take(JSON.parse(event.data))
      })
    }
    source.onerror = () => source === this.source && this.lost()
  }

  lost() {
    this.close()
    this.again = Date.now() + this.wait
    this.timer = setTimeout(() => this.open(this.name), this.wait)
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS)
    this.tell(this.since || this.heard)
  }

  // A server that says nothing, though its connection is there, is asked anew as well.
  listen() {
    if (this.source && Date.now() - this.heard > SILENCE_MS) this.lost()
    else if (this.since) this.tell(this.since)
  }

  tell(since) {
    this.since = since
    this.changed(since, this.source ? 0 : Math.max(0, this.again - Date.now()))
  }

  close() {
    clearTimeout(this.timer)
    if (this.source) this.source.close()
    this.source = undefined
  }
}

// Numbers beyond 2^53 (ranks are) keep all their digits, as text, where the browser tells them.
const whole = (key, value, context) => Number.isInteger(value) && !Number.isSafeInteger(value) && context ? context.source : value

// What the server answers, as JSON; an error says what it told.
export async function ask(path, options = {}) {
  const response = await fetch(path, { signal: AbortSignal.timeout(ANSWER_MS), ...options })
  const text = await response.text()
  let answer
  try {
    answer = JSON.parse(text, whole)
  } catch {
    answer = { error: text.trim() || response.statusText }
  }
  if (!response.ok) throw new Error(answer.error || `status ${response.status}`)
  return answer
}

export const path = (name, what) => `api/switches/${encodeURIComponent(name)}/${what}`

// Messages of a recording's lines; a line that isn't one is passed over.
export function messagesOf(text) {
  const messages = []
  for (const line of text.split('\n')) {
    if (!line) continue
    try {
      messages.push(JSON.parse(line))
    } catch {
      continue
    }
  }
  return messages
}

// The recording that lies in the page, deflated and in base64.
export async function inside(element) {
  const packed = Uint8Array.from(atob(element.textContent), letter => letter.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'))
  return messagesOf(await new Response(stream).text())
}

// A packet of the list: who sends to whom, by which ports, what became of it, how long it waited.

const PROTOCOLS = { 1: 'icmp', 2: 'igmp', 6: 'tcp', 17: 'udp', 47: 'gre', 50: 'esp', 58: 'icmpv6', 89: 'ospf', 132: 'sctp' }
const WITH_PORTS = new Set([6, 17, 132])
const FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG']
const IPV6_EXTENSIONS = new Set([0, 43, 60])

// Which member of a step says what it does.
const KINDS = [
  'arrived', 'state', 'extract', 'select', 'parser_error', 'checksum', 'condition', 'table', 'call', 'statement', 'assign',
  'header', 'register', 'counter', 'meter', 'extern', 'request', 'emit', 'enqueued', 'dequeued', 'sending', 'departed',
  'dropped', 'copied',
]

// A trace as the page holds it. Steps of a kind that this page doesn't know are shown by their text.
function packetOf(trace) {
  const steps = list(trace.steps).map(step => {
    const given = record(step)
    const kind = KINDS.find(name => given[name] !== undefined) || 'unknown'
    return {
      kind,
      what: kind === 'unknown' ? given : record(given[kind]),
      time: number(given.time_ns),
      part: visible(given.part),
      source: record(given.source),
    }
  })
  const arrived = steps.find(step => step.kind === 'arrived')
  const frame = arrived ? frameOf(arrived.what.frame) : ''
  return {
    trace,
    steps,
    number: number(trace.number),
    frame,
    of: number(trace.of),
    where: visible(trace.switch),
    start: steps.length ? steps[0].time : number(trace.time_ns),
    ends: endsOf(frame),
    length: arrived ? number(arrived.what.length) : 0,
    waited: steps.reduce((sum, step) => sum + (step.kind === 'dequeued' ? number(step.what.waited_ns) : 0), 0),
    came: cameFrom(trace, arrived),
    fate: fateOf(steps),
    dropped: steps.some(step => step.kind === 'dropped'),
    leftOut: number(trace.steps_left_out),
  }
}

const frameOf = value => typeof value === 'string' && /^(?:[0-9a-f]{2})*$/i.test(value) ? value.toLowerCase() : ''

function cameFrom(trace, arrived) {
  if (arrived) return arrived.what.from_controller ? 'controller' : `port ${number(arrived.what.port)}`
  return number(trace.of) ? `copy of ${number(trace.of)}` : '?'
}

function fateOf(steps) {
  const ends = []
  for (const { kind, what } of steps) {
    if (kind === 'departed') ends.push(what.to_controller ? 'controller' : `port ${number(what.port)}`)
    if (kind === 'dropped') ends.push(`dropped: ${visible(what.reason)}`)
  }
  return ends.length ? ends.join(', ') : 'still inside'
}

// Protocol, addresses and ports of a frame of hexadecimal digits, as far as its bytes go.
function endsOf(frame) {
  const byte = at => at * 2 + 2 <= frame.length ? parseInt(frame.substr(at * 2, 2), 16) : NaN
  const word = at => byte(at) * 256 + byte(at + 1)
  const address = (at, length) => asAddress(frame.substr(at * 2, length * 2))
  let at = 12
  for (let tags = 0; tags < 4 && (word(at) === 0x8100 || word(at) === 0x88a8); tags += 1) at += 4
  const type = word(at)
  at += 2
  if (type === 0x0806) return `arp ${address(at + 14, 4)} asks ${address(at + 24, 4)}`
  let protocol, source, destination, fragment = 0
  if (type === 0x0800) {
    [protocol, source, destination] = [byte(at + 9), address(at + 12, 4), address(at + 16, 4)]
    fragment = word(at + 6) & 0x1fff
    at += (byte(at) & 15) * 4
  } else if (type === 0x86dd) {
    [protocol, source, destination] = [byte(at + 6), address(at + 8, 16), address(at + 24, 16)]
    at += 40
    for (let headers = 0; headers < 8 && (IPV6_EXTENSIONS.has(protocol) || protocol === 44); headers += 1) {
      if (protocol === 44) fragment = word(at + 2) & 0xfff8;
      [protocol, at] = [byte(at), at + (protocol === 44 ? 8 : (byte(at + 1) + 1) * 8)]
    }
  }
  if (!source || !destination) return frame ? `frame ${frame.slice(0, 28)}${frame.length > 28 ? '…' : ''}` : 'no frame kept'
  const name = PROTOCOLS[protocol] || `protocol ${protocol}`
  if (fragment || !WITH_PORTS.has(protocol) || Number.isNaN(word(at + 2))) return `${name} ${source} > ${destination}`
  const colon = source.includes(':') ? (one, port) => `[${one}]:${port}` : (one, port) => `${one}:${port}`
  const bits = protocol === 6 ? byte(at + 13) : 0
  const flags = FLAGS.filter((_, place) => bits >> place & 1).join(' ')
  return `${name} ${colon(source, word(at))} > ${colon(destination, word(at + 2))}${flags ? ` ${flags}` : ''}`
}

// What was pasted: traces, a line of JSON each, or a frame in hexadecimal.
function readPasted(text) {
  const trimmedText = text.trim()
  if (!trimmedText) throw new Error('found nothing, expected a trace or the bytes of a packet')
  if (trimmedText.startsWith('{')) {
    const traces = trimmedText.split('\n').filter(line => line.trim()).map((line, index) => {
      let trace
      try { trace = JSON.parse(line) } catch (error) { throw new Error(`line ${index + 1}: found no JSON (${visible(error.message)}), expected a trace`) }
      if (!Array.isArray(trace.steps)) throw new Error(`line ${index + 1}: found no steps, expected a trace`)
      return trace
    })
    return { traces }
  }
  const frame = trimmedText.replace(/0x|[\s:.-]/gi, '').toLowerCase()
  const wrong = frame.search(/[^0-9a-f]/)
  if (wrong >= 0) throw new Error(`found ${JSON.stringify(visible(frame[wrong]))}, expected hexadecimal digits or a trace in JSON`)
  if (frame.length % 2 || frame.length < 28) {
    throw new Error(`found ${counted(frame.length, 'digit')}, expected two for each byte of a packet of at least 14`)
  }
  return { frame }
}

// Traces keep as many bytes of a frame as they were asked to.
const hasBytes = (packet, frame) => packet.frame.length >= 28 && (packet.frame.startsWith(frame) || frame.startsWith(packet.frame))

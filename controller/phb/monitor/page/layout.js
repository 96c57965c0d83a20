// Where switches stand on the map: as far from each other as wires lie between them, the same at each look.

const ROUNDS = 60
const GAP = 2.5

// Positions of `count` nodes, each a fixed point of the same forces, with the longest side lying flat. Pairs without a
// way between them stand a bit further than the farthest that have one.
export function layout(count, wires) {
  const far = distances(count, wires)
  const diameter = Math.max(1, ...far.map(row => row.reduce((most, one) => Number.isFinite(one) ? Math.max(most, one) : most, 0)))
  // Begins on a sunflower: no two nodes stand on one point, nor on one line.
  const xs = Float64Array.from({ length: count }, (_, index) => Math.sqrt(index + 0.5) * Math.cos(index * 2.39996))
  const ys = Float64Array.from({ length: count }, (_, index) => Math.sqrt(index + 0.5) * Math.sin(index * 2.39996))
  const rounds = count > 400 ? ROUNDS / 4 : count > 60 ? ROUNDS : 4 * ROUNDS
  for (let round = 0; round < rounds; round += 1) {
    for (let one = 0; one < count; one += 1) {
      let [x, y, all] = [0, 0, 0]
      for (let other = 0; other < count; other += 1) {
        if (other === one) continue
        const wanted = Number.isFinite(far[one][other]) ? far[one][other] : diameter + GAP
        const weight = 1 / (wanted * wanted)
        const [dx, dy] = [xs[one] - xs[other], ys[one] - ys[other]]
        const stretch = wanted / Math.max(Math.hypot(dx, dy), 1e-6)
        x += weight * (xs[other] + dx * stretch)
        y += weight * (ys[other] + dy * stretch)
        all += weight
      }
      if (all) [xs[one], ys[one]] = [x / all, y / all]
    }
  }
  return { hops: diameter, ...flat(xs, ys) }
}

function distances(count, wires) {
  const near = Array.from({ length: count }, () => [])
  for (const [one, other] of wires) {
    near[one].push(other)
    near[other].push(one)
  }
  return near.map((_, start) => {
    const row = new Float64Array(count).fill(Infinity)
    row[start] = 0
    const waiting = [start]
    for (let index = 0; index < waiting.length; index += 1) {
      for (const next of near[waiting[index]]) {
        if (row[next] !== Infinity) continue
        row[next] = row[waiting[index]] + 1
        waiting.push(next)
      }
    }
    return row
  })
}

// Turned so that it is wider than high, from 0 to 1 in both directions; first nodes stand on the left.
function flat(xs, ys) {
  const count = xs.length
  const middle = values => values.reduce((sum, value) => sum + value, 0) / count
  const [mx, my] = [middle(xs), middle(ys)]
  let [xx, xy, yy] = [0, 0, 0]
  for (let index = 0; index < count; index += 1) {
    const [dx, dy] = [xs[index] - mx, ys[index] - my]
    xx += dx * dx
    xy += dx * dy
    yy += dy * dy
  }
  const turn = -Math.atan2(2 * xy, xx - yy) / 2
  const turned = Array.from(xs, (x, index) => {
    const [dx, dy] = [x - mx, ys[index] - my]
    return [dx * Math.cos(turn) - dy * Math.sin(turn), dx * Math.sin(turn) + dy * Math.cos(turn)]
  })
  const sign = turned[0][0] > 0 ? -1 : 1
  const [left, right] = [Math.min(...turned.map(([x]) => x * sign)), Math.max(...turned.map(([x]) => x * sign))]
  const [top, bottom] = [Math.min(...turned.map(([, y]) => y)), Math.max(...turned.map(([, y]) => y))]
  return {
    ratio: (bottom - top) / Math.max(right - left, 1e-6),
    places: turned.map(([x, y]) => [right - left > 1e-6 ? (x * sign - left) / (right - left) : 0.5, bottom - top > 1e-6 ? (y - top) / (bottom - top) : 0.5]),
  }
}

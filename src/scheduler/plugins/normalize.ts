import { MAX_NODE_SCORE } from '../framework/plugin.js';

/** Raw scores in proportion to the highest; all 0 where that is 0. */
export function inProportion(raw: readonly number[]): readonly number[] {
  const highest = Math.max(0, ...raw);
  return highest === 0 ? raw : raw.map((score) => Math.trunc((MAX_NODE_SCORE * score) / highest));
}

/** As {@link inProportion}, but the highest raw score is the worst. */
export function inReverseProportion(raw: readonly number[]): readonly number[] {
  return inProportion(raw).map((score) => MAX_NODE_SCORE - score);
}

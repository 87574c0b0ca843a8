import { ownField, setField, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Shape } from './shape.js';
import { isHollow, itemsByElement, shapeOfValue } from './shape.js';

/**
 * An object with a configuration laid over it: everything that the configuration does not name stays. Null and empty values
 * are values like others, but take nothing out of a struct, a map or a list with keys: their parts are removed because their
 * owner no longer applies them. Neither argument is changed; the result shares parts with both. Source of the rules:
 * `mergingWalker` of structured-merge-diff.
 */
export function mergeConfig(live: unknown, config: unknown, declared: Shape): unknown {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const shape = shapeOfValue(declared, config);
  if (shape.kind === 'atomic' || isHollow(live, shape)) return config;
  if (isHollow(config, shape)) return live;
  if (shape.kind === 'list' || shape.kind === 'set') return mergeItems(live, config, shape);
  return isJsonObject(live) && isJsonObject(config) ? mergeFields(live, config, shape) : config;
}

function mergeFields(
  live: Readonly<Record<string, unknown>>,
  config: Readonly<Record<string, unknown>>,
  shape: Extract<Shape, { kind: 'struct' | 'map' }>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(config)) {
    const field = shape.kind === 'map' ? shape.item : shape.field(name);
    setField(merged, name, mergeConfig(ownField(live, name), value, field ?? { kind: 'atomic' }));
  }
  return merged;
}

/**
 * Items come in the configuration's order; one that only the live list has keeps its place before the item that
 * followed it.
 */
function mergeItems(
  live: unknown,
  config: unknown,
  shape: Extract<Shape, { kind: 'list' | 'set' }>,
): unknown[] {
  const there = itemsByElement(live, shape);
  const wanted = itemsByElement(config, shape);
  const itemShape: Shape = shape.kind === 'list' ? shape.item : { kind: 'atomic' };
  const merged: unknown[] = [];
  const rest = wanted.entries();
  const emitted = new Set<string>();
  const emitUpTo = (element: string | undefined): void => {
    while (element === undefined || !emitted.has(element)) {
      const next = rest.next();
      if (next.done) return;
      const [name, item] = next.value;
      emitted.add(name);
      merged.push(mergeConfig(there.get(name), item, itemShape));
    }
  };
  for (const [element, item] of there) {
    if (wanted.has(element)) emitUpTo(element);
    else merged.push(item);
  }
  emitUpTo(undefined);
  return merged;
}

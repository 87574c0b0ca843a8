import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Shape } from './shape.js';

/**
 * The fields of a configuration that are only a part of what a type takes as one value, or that the type does not have.
 */
interface PartialPaths {
  readonly atomic: readonly string[];
  readonly undeclared: readonly string[];
}

/** Source: findAtomics in pkg/admission/plugin/policy/mutating/patch/smd.go of apiserver. */
export function partialPathsIn(config: unknown, shape: Shape, path = ''): PartialPaths {
  if (typeof config !== 'object' || config === null) return NONE;
  if (Array.isArray(config)) {
    const items = config.map((item, index) =>
      shape.kind === 'list' ? partialPathsIn(item, shape.item, `${path}[${index}]`) : NONE,
    );
    return joined([isWhole(shape) ? { atomic: [path], undeclared: [] } : NONE, ...items]);
  }
  if (isWhole(shape)) return { atomic: [path], undeclared: [] };
  if (!isJsonObject(config) || (shape.kind !== 'struct' && shape.kind !== 'map')) return NONE;
  return joined(
    Object.entries(config).map(([name, value]) => {
      const at = `${path}.${name}`;
      const field = shape.kind === 'map' ? shape.item : shape.field(name);
      return field ? partialPathsIn(value, field, at) : { atomic: [], undeclared: [at] };
    }),
  );
}

const NONE: PartialPaths = { atomic: [], undeclared: [] };

function isWhole({ kind }: Shape): boolean {
  return kind === 'atomic';
}

function joined(all: readonly PartialPaths[]): PartialPaths {
  return {
    atomic: all.flatMap(({ atomic }) => atomic),
    undeclared: all.flatMap(({ undeclared }) => undeclared),
  };
}

import { EVICTION_REQUEST_GATE } from '@rollkeeper/machinery/options/feature-gates';
import type { PreviewedSchemas } from '../schema/index.js';
import { BUILT_IN_KINDS } from './built-in-kinds.js';
import type { KindDefinition } from './kind-definition.js';
import { EVICTION_REQUEST_SCHEMAS } from './lifecycle/eviction-request.schemas.js';
import { EVICTION_REQUEST_KIND } from './lifecycle/eviction-request.kind.js';
import { EVICTION_KIND } from './lifecycle/eviction.kind.js';

interface Preview {
  readonly gate: string;
  readonly kinds: readonly KindDefinition[];
  readonly schemas: PreviewedSchemas;
}

const PREVIEWS: readonly Preview[] = [
  {
    gate: EVICTION_REQUEST_GATE,
    kinds: [EVICTION_KIND, EVICTION_REQUEST_KIND],
    schemas: EVICTION_REQUEST_SCHEMAS,
  },
];

/** The kinds of a server with these feature gates on, in the order of discovery. */
export function kindsWith(gates: ReadonlySet<string>): readonly KindDefinition[] {
  return [...BUILT_IN_KINDS, ...PREVIEWS.flatMap(({ gate, kinds }) => (gates.has(gate) ? kinds : []))];
}

/** The schemas that these feature gates add to those of a server. */
export function schemasWith(gates: ReadonlySet<string>): readonly PreviewedSchemas[] {
  return PREVIEWS.filter(({ gate }) => gates.has(gate)).map(({ schemas }) => schemas);
}

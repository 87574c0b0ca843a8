import { shardHash, shardIndexOf } from '../../../src/machinery/kubernetes/index.js';

/** Over how many slots a world spreads its namespaces, if it does. */
export const SLOTS = 8;

export const DEFAULT_NAMESPACE = 'default';

/** Namespaces in different slots of {@link SLOTS}; two slots have none. */
export const SLOT_NAMESPACES = ['orders', 'echo', 'shop', 'alpha', 'bravo', DEFAULT_NAMESPACE] as const;

/** The namespace of each Deployment of a plan, by its name. */
export function namespaceIn({ slots }: { readonly slots?: number | undefined }): (name: string) => string {
  if (slots === undefined) return () => DEFAULT_NAMESPACE;
  return (name) => {
    const number = Number(name.split('-').at(-1));
    return SLOT_NAMESPACES[number % SLOT_NAMESPACES.length] ?? DEFAULT_NAMESPACE;
  };
}

/** A name for each slot that a namespace in it could have. */
export function probesOf(slots: number): readonly string[] {
  const probes: string[] = [];
  for (let number = 0; Object.keys(probes).length < slots; number++) {
    // The first bits of the hash hardly depend on the last letters of a name.
    const name = `${number}-probe`;
    probes[shardIndexOf(shardHash(name), slots)] ??= name;
  }
  return probes;
}

import { EndpointSlice, Service } from '@rollkeeper/runtime';
import { readyEndpoints } from './findings.js';
import type { Need, Snapshot } from './snapshot.js';

/** Why a server behind a Service cannot be reached, and what helps. */
interface ServerProblem {
  /** Without a full stop. */
  readonly summary: string;
  readonly unblockedBy: readonly string[];
}

/** The lists that {@link serverProblem} looks at. */
export const SERVER_NEEDS: readonly Need[] = [{ type: Service }, { type: EndpointSlice }];

/** A reference to a Service, as configurations of webhooks have it. */
export interface ServerRef {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Whether nothing can answer at a Service: there is none, or it has no ready endpoints. Undefined: it has, or the lists could not be
 * read. A server that hangs or has a wrong certificate is not seen.
 */
export function serverProblem(
  snapshot: Snapshot,
  { name = '', namespace = '' }: ServerRef,
): ServerProblem | undefined {
  if (!snapshot.isKnown(Service) || !snapshot.isKnown(EndpointSlice)) return undefined;
  const key = `${namespace}/${name}`;
  const exists = snapshot.list<Service>(Service, namespace).some(({ metadata }) => metadata.name === name);
  if (!exists)
    return {
      summary: `there is no Service ${key}`,
      unblockedBy: [`create Service ${key} and its pods, or correct the reference to it`],
    };
  if (readyEndpoints(snapshot, { name, namespace }) > 0) return undefined;
  return {
    summary: `Service ${key} has no ready endpoints`,
    unblockedBy: [`make the pods behind Service ${key} ready: rollkeeper explain service ${key}`],
  };
}

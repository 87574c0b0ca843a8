import type { Attachment } from './attach-route.ts';
import type { BackendRef, HTTPRoute } from './gateway-api.ts';
import type { Candidate, SeenRequest } from './match-request.ts';
import { inOrderOfPrecedence, matches } from './match-request.ts';
import type { BackendSources, ResolvedBackend } from './resolve-backends.ts';
import { backendKeyOf, backendRefsOf, resolveBackend } from './resolve-backends.ts';

const UNKNOWN: ResolvedBackend = { endpoints: [] };

/** The rules by which the gateway answers requests. A table is never changed, and is replaced as a whole. */
export class RouteTable {
  private readonly candidates: readonly Candidate[];
  private readonly backends: ReadonlyMap<string, ResolvedBackend>;

  /** @param routes those that a listener has accepted */
  constructor(routes: readonly HTTPRoute[], sources: BackendSources) {
    this.candidates = inOrderOfPrecedence(routes);
    this.backends = new Map(
      routes.flatMap((route) =>
        backendRefsOf(route).map((ref) => [backendKeyOf(route, ref), resolveBackend(route, ref, sources)]),
      ),
    );
  }

  /** The rule that a request is for. */
  find(request: SeenRequest): Candidate | undefined {
    return this.candidates.find((candidate) => matches(candidate, request));
  }

  resolve(route: HTTPRoute, ref: BackendRef): ResolvedBackend {
    return this.backends.get(backendKeyOf(route, ref)) ?? UNKNOWN;
  }

  /** The pods, `namespace/name`, that a request may be sent to. */
  get pods(): ReadonlySet<string> {
    return new Set([...this.backends.values()].flatMap(({ endpoints }) => endpoints.map(({ pod }) => pod)));
  }
}

/** Whether a route has a listener to be reached by. */
export function isAttached(attachments: readonly Attachment[]): boolean {
  return attachments.some(({ problem }) => !problem);
}

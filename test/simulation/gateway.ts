import { qualifiedResource } from '../../src/machinery/kubernetes/index.js';
import { toRfc3339 } from '../../src/machinery/clock/index.js';
import type { SimulatedApi, SimulatedProcess, StoredChange } from '../../src/testing/simulation/index.js';
import type { LedRoute } from '../chaos/checkers/led-route.js';
import { HTTPRoute, isServed, servedStatus } from '../chaos/led-routes.js';

const ROUTES = qualifiedResource(HTTPRoute);
/** A gateway takes a change over within this time, milliseconds. */
const TAKES_MS = [10, 1500] as const;
const RETRY_MS = 500;

/** A gateway that says of each route that it serves it, a while after each change; and not while it is away. */
export class SimulatedGateway {
  private readonly stopper = new AbortController();
  private readonly underWay = new Set<string>();

  constructor(
    private readonly process: SimulatedProcess,
    private readonly api: SimulatedApi,
  ) {}

  /** Follows a change of the store. */
  see({ deleted, object, resource }: StoredChange): void {
    if (resource !== ROUTES || deleted) return;
    const route = object as LedRoute;
    const id = `${route.metadata.name} ${route.metadata.generation}`;
    if (isServed(route) || this.underWay.has(id)) return;
    this.underWay.add(id);
    const [least, most] = TAKES_MS;
    const takes = least + (most - least) * this.process.random.next();
    this.process.after(takes, () => void this.serve(route).finally(() => this.underWay.delete(id)));
  }

  /** Serves no change for so long, milliseconds. */
  leave(ms: number): void {
    this.process.pause();
    this.process.kernel.after(ms, () => this.process.resume());
  }

  private async serve(route: LedRoute): Promise<void> {
    const { name, namespace } = route.metadata;
    const url = `/apis/${HTTPRoute.group}/${HTTPRoute.version}/namespaces/${namespace}/${HTTPRoute.resource}/${name}/status`;
    const body = JSON.stringify({ status: servedStatus(route, toRfc3339(this.process.clock.now())) });
    const { status } = await this.api.answer({
      ...{ method: 'PATCH', url, headers: { 'content-type': 'application/merge-patch+json' }, body },
      signal: this.stopper.signal,
    });
    this.process.kernel.note(this.process.name, this.process.name, `PATCH ${url} ${status}`);
    if (status === 409 || status === 429 || status >= 500)
      this.process.after(RETRY_MS, () => void this.serve(route));
  }
}

import type { WebhookCaller } from '../../src/apiserver/index.js';
import { pause, toRfc3339 } from '../../src/machinery/clock/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { parseJson, qualifiedResource } from '../../src/machinery/kubernetes/index.js';
import type { SimulatedApi, StoredChange, World } from '../../src/testing/simulation/index.js';
import { SimulatedProcess } from '../../src/testing/simulation/index.js';
import { meshAnswer, meshOf } from '../chaos/mesh.js';
import { SimulatedSessions } from './sessions.js';
import type { LedRoute } from '../chaos/checkers/led-route.js';
import { HTTPRoute, isServed, servedStatus } from '../chaos/led-routes.js';

const ROUTES = qualifiedResource(HTTPRoute);
/** A gateway takes a change over within this time, milliseconds. */
const TAKES_MS = [10, 1500] as const;
const RETRY_MS = 500;

/** A gateway that says of each route that it serves it, a while after each change; and not while it is away. */
class SimulatedGateway {
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

/** A webhook answers within this time, milliseconds. */
const MOST_MS = 30;

/** The webhook of a mesh, which injects what its URL says. */
export class SimulatedMesh implements WebhookCaller {
  private awayUntilMs = -Infinity;

  constructor(private readonly process: SimulatedProcess) {}

  /** Answers no review for so long, milliseconds. */
  leave(ms: number): void {
    this.awayUntilMs = this.process.kernel.nowMs + ms;
  }

  post: WebhookCaller['post'] = async ({ client }, body) => {
    const { clock, kernel, random } = this.process;
    const [takes, own] = [random.next(), random.next()];
    await pause(clock, MOST_MS * takes, new AbortController().signal);
    const mesh = meshOf(client.url ?? '');
    if (!mesh || kernel.nowMs < this.awayUntilMs) throw new Error('connection refused');
    return meshAnswer(parseJson(body), mesh, String(Math.floor(own * 1e9)));
  };
}

/** The parts of a cluster that act by themselves beside the replicas: a gateway, applications with sessions, the webhook of a mesh. */
export class Surroundings {
  private parts: { readonly gateway: SimulatedGateway; readonly sessions: SimulatedSessions } | undefined;
  private readonly early: StoredChange[] = [];
  mesh: SimulatedMesh | undefined;

  /** Follows a change of the store. */
  see(change: StoredChange): void {
    if (!this.parts) return void this.early.push(change);
    this.parts.gateway.see(change);
    this.parts.sessions.see(change);
  }

  /** The webhooks of the world's API server. */
  readonly webhooks = (process: SimulatedProcess): WebhookCaller => (this.mesh = new SimulatedMesh(process));

  /** They act from now on, also on what has changed before. */
  begin({ api, kernel }: World): void {
    this.parts = {
      gateway: new SimulatedGateway(new SimulatedProcess(kernel, 'gateway'), api),
      sessions: new SimulatedSessions(new SimulatedProcess(kernel, 'sessions'), api),
    };
    for (const change of this.early.splice(0)) this.see(change);
  }

  takeGateway(ms: number): void {
    this.parts?.gateway.leave(ms);
  }

  takeMesh(ms: number): void {
    this.mesh?.leave(ms);
  }

  /** The sessions of all pods that drain last from now on. */
  holdSessions(): void {
    this.parts?.sessions.holdAll();
  }

  /** All sessions end, now and from now on. */
  endSessions(): void {
    this.parts?.sessions.endAll();
  }

  readonly isEmpty = (pod: KubernetesObject): boolean =>
    this.parts?.sessions.isEmpty(pod as Parameters<SimulatedSessions['isEmpty']>[0]) ?? false;

  /** The answer of a pod to a request about its sessions. */
  readonly sessionsAt = (url: string): string | undefined => this.parts?.sessions.answer(url);
}

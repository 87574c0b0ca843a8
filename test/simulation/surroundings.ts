import type { WebhookCaller } from '../../src/apiserver/index.js';
import { pause } from '../../src/machinery/clock/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { parseJson } from '../../src/machinery/kubernetes/index.js';
import type { StoredChange, World } from '../../src/testing/simulation/index.js';
import { SimulatedProcess } from '../../src/testing/simulation/index.js';
import { meshAnswer, meshOf } from '../chaos/mesh.js';
import { SimulatedGateway } from './gateway.js';
import { SimulatedSessions } from './sessions.js';

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

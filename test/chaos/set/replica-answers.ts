import type { IncomingHttpHeaders } from 'node:http';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type {
  FaultDecisions,
  ProxiedRequest,
  RequestDecision,
} from '../../../src/testing/faults/fault-proxy.js';
import { FaultProxy } from '../../../src/testing/faults/fault-proxy.js';
import type { GivenAnswer, HalfSent } from '../../../src/testing/faults/given-answer.js';
import type { EventDecision } from '../../../src/testing/faults/proxied-watch.js';

/** An answer that some of the requests get. */
export interface AnswerFault {
  readonly answer: GivenAnswer | HalfSent;
  /** The share of the requests that it hits. */
  readonly share: number;
  /** The methods of the requests that it meets. @default all but watches */
  readonly methods?: readonly string[];
  /** @default all */
  readonly paths?: RegExp;
  /** Whether the server has done what was asked before the fault shows. */
  readonly afterwards?: boolean;
}

type WatchFault = { readonly kind: 'delay'; readonly delayMs: number } | { readonly kind: 'gone' };

/** A request with its whole body. */
export interface WholeRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** As they are passed on: what is changed here is what the server gets. */
  readonly headers: IncomingHttpHeaders;
  /** Empty of a watch. */
  readonly body: Buffer;
}

/** A write on its way to the server, or back. */
export interface SeenWrite extends Omit<WholeRequest, 'headers'> {
  readonly when: 'before' | 'after';
}

/** The answers that one replica gets from the API server: its own proxy, with what a test decides about them. */
export class ReplicaAnswers implements FaultDecisions {
  private readonly proxy: FaultProxy;
  private answerFault: AnswerFault | undefined;
  private watchFault: WatchFault | undefined;
  /** Sees each write, before it is passed on and after the server has answered; what it awaits holds the write up. */
  onWrite: ((write: SeenWrite) => void | Promise<void>) | undefined;
  /** Sees each request but watches before anything else; what it returns is the answer. Stays until it is taken away. */
  onRequest: ((request: WholeRequest) => GivenAnswer | undefined) | undefined;
  /** The same for watches. */
  onWatch: ((request: WholeRequest) => GivenAnswer | undefined) | undefined;

  constructor(
    target: { readonly port: number },
    private readonly random: () => number,
  ) {
    const url = `http://127.0.0.1:${target.port}`;
    const clock = new SystemClock();
    this.proxy = new FaultProxy({ url, tls: false, decisions: this, clock, logger: silentLogger });
  }

  /** Resolves with the port on which it listens, without TLS. */
  async start(): Promise<number> {
    return Number(new URL((await this.proxy.start()).url).port);
  }

  stop(): Promise<void> {
    return this.proxy.stop();
  }

  answerWith(fault: AnswerFault): void {
    this.answerFault = fault;
  }

  watchWith(fault: WatchFault): void {
    this.watchFault = fault;
    if (fault.kind === 'gone') for (const watch of this.proxy.watchesOf()) watch.endAsGone();
  }

  cutWatches(): void {
    for (const watch of this.proxy.watchesOf()) watch.cut();
  }

  heal(): void {
    this.answerFault = undefined;
    this.watchFault = undefined;
    this.proxy.heal();
  }

  async decide(request: ProxiedRequest): Promise<RequestDecision | undefined> {
    if (request.resource?.verb === 'watch') return this.decideWatch(request);
    const { headers, method, path } = request;
    const body = await request.body();
    const own = this.onRequest?.({ method, path, headers, body });
    if (own) return { before: own };
    const fault = this.faultFor(method, path);
    if (fault && !fault.afterwards && fault.answer.kind !== 'half-sent') return { before: fault.answer };
    const see = async (when: SeenWrite['when']): Promise<void> => {
      if (method !== 'GET') await this.onWrite?.({ method, path, body, when });
    };
    await see('before');
    return {
      after: async () => {
        await see('after');
        return fault?.answer;
      },
    };
  }

  decideEvent(): EventDecision {
    return this.watchFault?.kind === 'delay' ? { delayMs: this.watchFault.delayMs } : {};
  }

  async untilOpen(): Promise<void> {}

  private decideWatch({ headers, method, path }: ProxiedRequest): RequestDecision | undefined {
    const own = this.onWatch?.({ method, path, headers, body: Buffer.alloc(0) });
    if (own) return { before: own };
    return this.watchFault?.kind === 'gone' ? { before: { kind: 'gone' } } : undefined;
  }

  private faultFor(method: string, path: string): AnswerFault | undefined {
    const fault = this.answerFault;
    if (!fault || (fault.methods && !fault.methods.includes(method))) return undefined;
    if (fault.paths && !fault.paths.test(path)) return undefined;
    return this.random() < fault.share ? fault : undefined;
  }
}

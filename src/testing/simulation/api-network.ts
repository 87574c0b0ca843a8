import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { ApiConnections, RequestDispatcher } from '@rollkeeper/client/api-client';
import { NotStartedError } from '@rollkeeper/client/api-client';
import type { DirectAnswer, DirectRequest } from '@rollkeeper/apiserver';
import type { Network } from './network.js';
import { ConnectionBrokenError } from './network.js';
import type { SimulatedApi } from './simulated-api.js';
import type { SimulatedProcess } from './process.js';
import { WatchBody } from './watch-body.js';

type Sent = Awaited<ReturnType<RequestDispatcher['request']>>;
type Asked = Parameters<RequestDispatcher['request']>[0];

/** The troubles of the API server, as chances from 0 to 1 of each request. */
export interface ApiTrouble {
  /** Answered with a status of 409, 429 or 500 in place of being done. */
  refused: number;
  /** Done, and answered with 500 all the same. */
  failedAfter: number;
}

/** A watch that is open. */
interface OpenWatch {
  readonly owner: SimulatedProcess;
  readonly text: string;
  /** The earliest that the next piece arrives, simulated milliseconds: pieces do not overtake each other. */
  notBeforeMs: number;
  /** The pieces that have not arrived, in their order. */
  readonly onTheWay: (() => void)[];
  /** Nothing of it arrives any more, and the client does not hear that. */
  isSilent: boolean;
  readonly body: WatchBody;
  readonly end: () => void;
}

/** The API server over the network of a simulation. */
export class ApiNetwork {
  trouble: ApiTrouble = { refused: 0, failedAfter: 0 };
  private readonly watches = new Set<OpenWatch>();

  constructor(
    private readonly api: SimulatedApi,
    private readonly network: Network,
  ) {}

  /** The connections of one process. */
  connectionsOf(process: SimulatedProcess): ApiConnections {
    const closed = new AbortController();
    const dispatcher: RequestDispatcher = {
      request: (asked) => this.request(process, asked, closed.signal),
    };
    process.onKilled(() => this.endWatches(({ owner }) => owner === process));
    const both = { requests: dispatcher, streams: dispatcher };
    const close = async (): Promise<void> => {
      closed.abort(new ConnectionBrokenError('closed'));
      this.endWatches(({ owner }) => owner === process);
    };
    return { current: () => both, suspect: () => undefined, close };
  }

  get openWatches(): number {
    return this.watches.size;
  }

  /**
   * Disturbs every watch of a process.
   * @param how `cut`: the connection breaks. `silent`: it stays open, and brings nothing. `expired`: the server says that it
   *   has forgotten what came next, so that changes are seen together. `held`: everything comes later, by `heldMs`
   */
  disturbWatches(process: SimulatedProcess, how: 'cut' | 'silent' | 'expired' | 'held', heldMs = 0): void {
    const { kernel } = this.api.process;
    for (const watch of [...this.watches]) {
      if (watch.owner !== process) continue;
      this.network.count(`watch ${how}`);
      kernel.note(this.api.process.name, process.name, `${watch.text} (${how})`);
      if (how === 'held') watch.notBeforeMs = Math.max(watch.notBeforeMs, kernel.nowMs + heldMs);
      else if (how === 'silent') watch.isSilent = true;
      else if (how === 'cut') this.endWatch(watch, new ConnectionBrokenError(watch.text));
      else {
        watch.body.push(EXPIRED);
        this.endWatch(watch);
      }
    }
  }

  private async request(process: SimulatedProcess, asked: Asked, closed: AbortSignal): Promise<Sent> {
    const { body, method, path } = asked;
    const signal = asked.signal as AbortSignal | undefined;
    askBeforeStart(asked);
    const left = new AbortController();
    const text = `${method} ${shortened(path)}`;
    const isWrite = method !== 'GET';
    const request: DirectRequest = {
      ...{ method, url: path, headers: asked.headers as DirectRequest['headers'], signal: left.signal },
      ...(typeof body === 'string' && { body }),
    };
    const either = new LinkedAbort(closed, ...(signal ? [signal] : []));
    const called = this.network.call({
      ...{ from: process, to: this.api.process, text, signal: either.signal },
      effect: async () => {
        const refusal = this.refusal(method);
        if (refusal) return refusal;
        const done = await this.api.answer(request);
        return isWrite && this.chance('failedAfter') ? statusOf(500, 'InternalError') : done;
      },
    });
    const answer = await called.finally(() => either.close());
    return {
      statusCode: answer.status,
      headers: answer.headers,
      body: this.bodyOf(process, answer, { text, left, signal }),
    };
  }

  private bodyOf(
    process: SimulatedProcess,
    answer: DirectAnswer,
    {
      left,
      signal,
      text,
    }: { readonly left: AbortController; readonly signal?: AbortSignal; readonly text: string },
  ): WatchBody {
    const body = new WatchBody();
    if (typeof answer.body === 'string') {
      body.push(answer.body);
      body.finish();
      return body;
    }
    const watch: OpenWatch = {
      ...{ owner: process, text, body, notBeforeMs: 0, isSilent: false, onTheWay: [] },
      end: () => left.abort(),
    };
    this.watches.add(watch);
    signal?.addEventListener('abort', () => this.endWatch(watch, signal.reason as Error), { once: true });
    void this.pump(watch, answer.body);
    return body;
  }

  /** Sends what the server has, piece by piece; events of one piece may be told apart on the way. */
  private async pump(watch: OpenWatch, pieces: AsyncIterable<string | Buffer>): Promise<void> {
    for await (const piece of pieces) {
      if (!this.watches.has(watch)) return;
      for (const part of this.partsOf(piece.toString())) this.arriveLater(watch, () => watch.body.push(part));
    }
    this.arriveLater(watch, () => this.endWatch(watch));
  }

  private arriveLater(watch: OpenWatch, arrive: () => void): void {
    const { process: server } = this.api;
    const { kernel } = server;
    const atMs = Math.max(watch.notBeforeMs, kernel.nowMs + this.network.latency(server, watch.owner));
    watch.notBeforeMs = atMs;
    watch.onTheWay.push(arrive);
    watch.owner.after(atMs - kernel.nowMs, () => {
      // After a pause, completions come in any order, and what a connection brings does not.
      const next = watch.onTheWay.shift();
      if (watch.isSilent || !this.watches.has(watch)) return;
      kernel.note(server.name, watch.owner.name, `${watch.text} event`);
      next?.();
    });
  }

  /** At most three pieces, each of whole events. */
  private partsOf(text: string): string[] {
    const { random } = this.api.process.kernel;
    const parts: string[] = [];
    let from = 0;
    while (parts.length < 2 && random.next() < 0.5) {
      const end = text.indexOf('\n', from) + 1;
      if (end === 0 || end >= text.length) break;
      parts.push(text.slice(from, end));
      from = end;
    }
    return [...parts, text.slice(from)];
  }

  private endWatches(which: (watch: OpenWatch) => boolean): void {
    for (const watch of [...this.watches]) if (which(watch)) this.endWatch(watch);
  }

  private endWatch(watch: OpenWatch, error?: Error): void {
    if (!this.watches.delete(watch)) return;
    watch.end();
    watch.body.finish(error);
  }

  private refusal(method: string): DirectAnswer | undefined {
    if (!this.chance('refused')) return undefined;
    const kinds = method === 'PUT' ? [429, 500, 409] : [429, 500];
    const code = kinds[Math.floor(this.api.process.kernel.random.next() * kinds.length)]!;
    return statusOf(code, { 409: 'Conflict', 429: 'TooManyRequests', 500: 'InternalError' }[code] ?? '');
  }

  private chance(trouble: keyof ApiTrouble): boolean {
    const chance = this.trouble[trouble];
    if (chance === 0 || this.api.process.kernel.random.next() >= chance) return false;
    this.network.count(`API ${trouble === 'refused' ? 'refused' : 'failed after the effect'}`);
    return true;
  }
}

const EXPIRED = `${JSON.stringify({
  type: 'ERROR',
  object: statusObject(410, 'Expired'),
})}\n`;

function statusOf(code: number, reason: string): DirectAnswer {
  return {
    status: code,
    headers: { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) },
    body: JSON.stringify(statusObject(code, reason)),
  };
}

function statusObject(code: number, reason: string): object {
  const message = `simulated: ${reason}`;
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

function askBeforeStart({ mayStart }: Asked): void {
  try {
    mayStart?.();
  } catch (reason) {
    throw new NotStartedError(reason);
  }
}

/** Without what says nothing to a reader of a trace. */
function shortened(path: string): string {
  return path.length > 160 ? `${path.slice(0, 157)}...` : path;
}

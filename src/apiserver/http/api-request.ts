import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { nextTurn } from '@rollkeeper/machinery/clock';
import { ANONYMOUS } from '../access/auth/index.js';
import type { UserInfo } from '../access/auth/index.js';
import { badRequest, bodyTooLarge, tooManyRequests } from '../schema/errors/index.js';
import type { ByteBudget, Holder, Reservation } from './byte-budget.js';
import { flowOf } from './flow-of.js';
import { parseResourcePath } from './resource-path.js';
import type { ResourcePath } from './resource-path.js';

/** Largest body taken, bytes: what etcd lets a genuine server take, twice. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** Bodies beyond this many bytes need room that is theirs; smaller ones are few enough by the number of connections. */
const LARGE_BODY_BYTES = 16 * 1024;
/** Bodies beyond this many bytes are processed one after the other, so that others get their turn in between. */
const HEAVY_BODY_BYTES = 64 * 1024;

/** `/api/v1/watch/...`, `/apis/apps/v1/watch/...` */
const OLD_WATCH_PATH = /^\/+(?:api|apis\/+[^/]+)\/+[^/]+\/+watch\/+[^/]/;

/** The parts of the server that a request needs. */
export interface RequestHost {
  /** A signal that aborts when the client disconnects or the server stops. Called once at most. */
  makeSignal(): AbortSignal;
  /** For what is being received. */
  readonly bodies: ByteBudget;
  /** For what waits to be sent. */
  roomFor(isWatch: boolean): ByteBudget<ApiRequest>;
  /** Ends the request: it holds what others need. */
  giveUp(): void;
  /** The request waits for room to answer, and for nothing that others of its sort need. */
  onWaiting(): void;
  /** Calls back once when the answer has been sent or cannot be. */
  onClose(callback: () => void): void;
}

const NO_WARNINGS: readonly string[] = [];

/** One request, as handlers see it. */
export class ApiRequest implements Holder {
  /** Upper case. */
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The user, set by the server before the request is processed. */
  user: UserInfo = ANONYMOUS;
  /** It may be answered for as long as the client likes. */
  readonly isWatch: boolean;
  private readonly room: ByteBudget<ApiRequest>;
  private warnings: Set<string> | undefined;
  private ownSignal: AbortSignal | undefined;
  private body: Promise<Buffer> | undefined;
  private parsedPath: { readonly target: ResourcePath | undefined } | undefined;

  constructor(
    private readonly message: IncomingMessage,
    private readonly host: RequestHost,
  ) {
    const url = message.url ?? '/';
    const mark = url.indexOf('?');
    this.method = message.method ?? 'GET';
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
    this.headers = message.headers;
    this.isWatch = this.flag('watch') || OLD_WATCH_PATH.test(this.path);
    this.room = host.roomFor(this.isWatch);
  }

  /**
   * The resource that the path addresses, before checking that it exists; undefined for paths that address no resource.
   * @throws StatusError 400 for a path that is not well-formed
   */
  get target(): ResourcePath | undefined {
    const { path } = this;
    this.parsedPath ??= { target: path.startsWith('/api') ? parseResourcePath(path) : undefined };
    return this.parsedPath.target;
  }

  /** Aborts when the client disconnects or the server stops. */
  get signal(): AbortSignal {
    this.ownSignal ??= this.host.makeSignal();
    return this.ownSignal;
  }

  /** The media type of the body, lower case, without parameters; empty when the client named none. */
  get contentType(): string {
    const header = this.headers['content-type'] ?? '';
    const end = header.indexOf(';');
    return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
  }

  /** Texts of `Warning` headers, which go with any answer, a refusal as well. */
  get warned(): readonly string[] {
    return this.warnings ? [...this.warnings] : NO_WARNINGS;
  }

  /** Says something to the client beside the answer, once. */
  warn(text: string): void {
    this.warnings ??= new Set();
    this.warnings.add(text);
  }

  /** A query parameter that Kubernetes reads as a boolean. */
  flag(name: string): boolean {
    const value = this.query.get(name);
    return value !== null && value !== 'false' && value !== '0';
  }

  /** As its user takes turns with others. */
  get flow(): string {
    return flowOf(this.user);
  }

  giveUp(): void {
    this.host.giveUp();
  }

  /**
   * Reserves room for this many characters of an answer, to be released when they have been sent. A client that does not read
   * gives way to others, and its request ends. Rejects if the client has disconnected.
   */
  reserve(length: number): Promise<Reservation> {
    const early = this.tryReserve(length);
    if (early) return Promise.resolve(early);
    this.host.onWaiting();
    return this.room.reserve(length, this, this.signal);
  }

  /** The same at once, if there is room. */
  tryReserve(length: number): Reservation | undefined {
    return this.room.tryReserve(length, this);
  }

  /** Calls back once when the answer has been sent or cannot be. */
  onClose(callback: () => void): void {
    this.host.onClose(callback);
  }

  /**
   * Receives the body: what its sender holds up is this request, and nothing that others wait for.
   * @throws StatusError 413 beyond {@link MAX_BODY_BYTES}, 429 when others needed the room
   */
  async receiveBody(): Promise<number> {
    this.body ??= this.receive();
    return (await this.body).length;
  }

  /** @throws StatusError as {@link receiveBody} */
  async readBody(): Promise<Buffer> {
    this.body ??= this.receive();
    const body = await this.body;
    if (body.length > HEAVY_BODY_BYTES) await nextTurn();
    return body;
  }

  private receive(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const { message } = this;
      const chunks: Buffer[] = [];
      let room: Reservation | undefined;
      let isWaiting = false;
      let size = 0;
      message.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) return reject(bodyTooLarge(MAX_BODY_BYTES));
        chunks.push(chunk);
        if (room) room.progress(chunk.length);
        else if (size > LARGE_BODY_BYTES && !isWaiting) {
          isWaiting = true;
          message.pause();
          this.roomForBody(() => reject(tooManyRequests())).then((given) => {
            room = given;
            message.resume();
          }, reject);
        }
      });
      message.on('end', () => {
        room?.settle();
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      });
      message.on('error', (error) => reject(badRequest(`reading the body failed: ${error.message}`, error)));
      message.on('close', () => {
        if (!message.complete) reject(badRequest('the client went away before the body was complete'));
      });
    });
  }

  /** As much as the client says, else as much as it may be. Held until all is done: what is made of it is larger. */
  private async roomForBody(giveUp: () => void): Promise<Reservation> {
    const length = Math.min(Number(this.headers['content-length'] ?? MAX_BODY_BYTES), MAX_BODY_BYTES);
    const room = await this.host.bodies.reserve(length, { flow: this.flow, giveUp }, this.signal);
    this.onClose(() => room.release());
    return room;
  }
}

import { HttpException, Inject, Injectable, ServiceUnavailableException } from '@nestjs/common';
import type { Response } from 'express';
import { isJsonObject, parseJson } from '@rollkeeper/machinery/kubernetes';
import { warn } from './api-answers.js';
import type { Peer } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import type { CallerPass } from './caller-pass.js';
import { ofOneReplica } from './caller-pass.js';
import { OtherReplicas } from './other-replicas.js';
import type { AnswerForm } from './peer-answers.js';
import { assertForm, inForm } from './peer-answers.js';
import type { PeerAnswer, PeerRequest } from './peer-client.js';
import { peerProblem } from './peer-client.js';

/** An explanation asks the API and all replicas; a person waits for it. */
const OWNER_WITHIN_MS = 5000;
/** For so long after an owner was late, callers do not wait for it with the same question, milliseconds. */
const LATE_FOR_MS = 10_000;

/** Another replica that owns slots. */
export interface SlotOwner {
  readonly identity: string;
  /** How many. */
  readonly slots: number;
  /** Absent: it has not announced itself, so it has ended, or has not begun. */
  readonly peer?: Peer;
}

/** A replica whose part is missing in an answer. */
export interface MissingReplica {
  readonly identity: string;
  /** How many slots it owns. */
  readonly slots: number;
  readonly problem: string;
}

/** A question that an owner has not answered in time. */
interface LateAnswer {
  readonly problem: string;
  /** Monotonic clock, milliseconds. */
  readonly untilMs: number;
  /** It was asked again, and the answer is not there yet. */
  isAsked: boolean;
}

interface OwnersAnswers<T> {
  readonly answers: readonly { readonly identity: string; readonly answer: T }[];
  readonly missing: readonly MissingReplica[];
  /** How many slots no replica works on. */
  readonly unowned: number;
}

/** A request that another replica answers. */
interface PassedRequest extends Pick<PeerRequest, 'body' | 'method'> {
  /** Path and query. */
  readonly url: string;
  readonly namespace: string;
  readonly pass: CallerPass;
  readonly form: AnswerForm;
}

/** The first status of a refusal. */
const REFUSED = 400;
/** Why an owner of slots cannot be asked. */
export const NOT_ANNOUNCED = 'it has not announced itself';

/** Asks the replicas that own other slots than this one, each for its own part, with the rights of the caller. */
@Injectable()
export class SlotReplicas {
  /** By owner, credential and question, so that the slow question of one user keeps nothing from another one. */
  private readonly late = new Map<string, LateAnswer>();

  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(OtherReplicas) private readonly others: OtherReplicas,
  ) {}

  /** The other owners of slots; none without slots. */
  async owners(): Promise<readonly SlotOwner[]> {
    const owned = this.ports.slots?.()?.owned() ?? new Map<string, number>();
    const peers = new Map((await this.others.all()).map((peer) => [peer.identity, peer]));
    return [...owned].flatMap(([identity, slots]) => {
      if (identity === this.ports.identity) return [];
      const peer = peers.get(identity);
      return [{ identity, slots, ...(peer && { peer }) }];
    });
  }

  /**
   * The parts of an answer that the other owners of slots have. An owner that was late with the same question a moment ago is asked without
   * waiting for it, so that one that hangs does not make each answer as late as that.
   * @param url path and query
   * @param form of each part: a replica that answers with something else is named as missing
   */
  async askAll<T>(url: string, form: AnswerForm, pass: CallerPass): Promise<OwnersAnswers<T>> {
    const owners = await this.owners();
    const asked = await Promise.all(
      owners.map(async ({ identity, peer, slots }) => {
        const path = ofOneReplica(url);
        const { answer, problem } = peer
          ? inForm(await this.askUnlessLate<T>(peer, { ...pass, path }), form)
          : { answer: undefined, problem: NOT_ANNOUNCED };
        return { identity, slots, answer, problem };
      }),
    );
    return {
      answers: asked.flatMap(({ answer, identity, problem }) =>
        answer === undefined || problem !== undefined ? [] : [{ identity, answer }],
      ),
      missing: asked.flatMap(({ identity, problem, slots }) =>
        problem === undefined ? [] : [{ identity, slots, problem }],
      ),
      unowned: this.unowned(),
    };
  }

  private async askUnlessLate<T>(peer: Peer, request: PeerRequest): Promise<PeerAnswer<T>> {
    const question = JSON.stringify([peer.identity, request.credential, request.path]);
    const nowMs = this.ports.clock.monotonicNow();
    for (const [each, { isAsked, untilMs }] of this.late)
      if (!isAsked && nowMs >= untilMs) this.late.delete(each);
    const late = this.late.get(question);
    if (!late) return this.ask<T>(peer, request, question);
    // One question at a time: a replica that hangs must not collect them. It never rejects.
    if (!late.isAsked) void this.ask(peer, request, question);
    late.isAsked = true;
    return { problem: `${late.problem} (it is asked again meanwhile)` };
  }

  /** Notes whether the answer is late. */
  private async ask<T>(peer: Peer, request: PeerRequest, question: string): Promise<PeerAnswer<T>> {
    const answer = await this.others.client.read<T>(peer, { ...request, withinMs: OWNER_WITHIN_MS });
    const untilMs = this.ports.clock.monotonicNow() + LATE_FOR_MS;
    if (answer.isLate) this.late.set(question, { problem: answer.problem, untilMs, isAsked: false });
    else this.late.delete(question);
    return answer;
  }

  /** How many slots no replica works on. */
  unowned(): number {
    return this.ports.slots?.()?.unowned() ?? 0;
  }

  /**
   * The answer of the replica that owns the slot of the namespace. Undefined: this one answers by itself, because it owns the slot, or
   * keeps its objects, and the owner does not answer.
   * @throws HttpException as the owner answers; ServiceUnavailableException if it does not, and nothing is known here
   */
  async answerOfOwner(
    { body, form, method = 'GET', namespace, pass, url }: PassedRequest,
    response: Response,
  ): Promise<{ readonly answer: unknown } | undefined> {
    const owner = this.ownerElsewhere(namespace);
    if (owner === undefined) return undefined;
    const peer = (await this.others.all()).find(({ identity }) => identity === owner);
    const name = peer ? `${owner} (${peer.adminUrl})` : owner;
    try {
      if (!peer) throw new Error(NOT_ANNOUNCED);
      const path = ofOneReplica(url);
      const request = { ...pass, body, method, path, withinMs: OWNER_WITHIN_MS };
      const { status, text } = await this.others.client.send(peer, request);
      if (status >= REFUSED) throw refusalOf(status, text, name);
      const answer: unknown = parseJson(text);
      assertForm(answer, form);
      return { answer };
    } catch (error) {
      if (error instanceof HttpException) throw error;
      const problem = `${name}, which works on the slot of the namespace ${namespace}, gives no usable answer: ${peerProblem(error)}`;
      if (method !== 'GET')
        throw new ServiceUnavailableException({
          error: `${problem}; look whether it has done what was asked`,
        });
      if (!showsNamespace(this.ports, namespace)) throw new ServiceUnavailableException({ error: problem });
      warn(response, `${problem}; this is what its standby knows`);
      return undefined;
    }
  }

  private ownerElsewhere(namespace: string): string | undefined {
    const { identity, slots } = this.ports;
    const known = slots?.();
    if (!known || known.owns(namespace)) return undefined;
    const owner = known.ownerOf(namespace);
    if (owner === undefined && !showsNamespace(this.ports, namespace)) throw unowned(namespace);
    return owner === identity ? undefined : owner;
  }
}

/** Whether the caches of this replica have the objects of a namespace. */
export function showsNamespace(ports: Pick<AdminPorts, 'caches'>, namespace: string): boolean {
  return ports.caches().every(({ deployments }) => deployments.showsNamespace?.(namespace) !== false);
}

function unowned(namespace: string): ServiceUnavailableException {
  return new ServiceUnavailableException({
    error: `no replica works on the slot of the namespace ${namespace} at the moment; ask again (docs/SCALE.md)`,
  });
}

function refusalOf(status: number, text: string, name: string): HttpException {
  try {
    const said: unknown = parseJson(text);
    if (isJsonObject(said)) return new HttpException(said, status);
  } catch {
    // Something else than a replica is there.
  }
  return new HttpException({ error: `${name} answers ${status}` }, status);
}

/** Says in an answer whose parts are missing. */
export function warnOfMissing(
  response: Response,
  { missing, unowned: none }: Pick<OwnersAnswers<unknown>, 'missing' | 'unowned'>,
): void {
  for (const { identity, problem, slots } of missing)
    warn(
      response,
      `${identity}, which works on ${slots} slots, gives no usable answer: ${problem}; its part is missing`,
    );
  if (none > 0) warn(response, `no replica works on ${none} slots at the moment; their part is missing`);
}

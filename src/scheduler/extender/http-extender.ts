import { readNamedFileSync } from '@rollkeeper/machinery/files';
import { request as httpRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import { request as httpsRequest } from 'node:https';
import type { ZodType } from 'zod';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, TerminalError, TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import type { ExtenderConfiguration } from '../config/configuration.schema.js';
import type { NodeInfo, PodInfo, ReadablePod } from '../framework/node-info.js';
import type { Status } from '../framework/status.js';
import { unresolvable, unschedulable } from '../framework/status.js';
import type {
  ExtenderArgs,
  ExtenderBindingArgs,
  ExtenderPreemptionArgs,
  ExtenderVictims,
} from './extender-protocol.js';
import { bindingResult, filterResult, preemptionResult, prioritizeResult } from './extender-protocol.js';

/** Extenders score from 0 to 10, plug-ins to 100. */
const SCORE_SCALE = 10;
const MOST_SCORE = 10;
/** Larger answers are refused. */
const MOST_BYTES = 64 * 1024 * 1024;

/** One scheduler extender: a service that is asked over HTTP after the plug-ins. */
export class HttpExtender {
  private readonly tls: RequestOptions;

  /**
   * @param field of the configuration, for errors
   * @throws InvalidOptionError naming the field, for TLS files that cannot be read
   */
  constructor(
    private readonly config: ExtenderConfiguration,
    private readonly clock: Clock,
    field: string,
  ) {
    this.tls = tlsOptions(config, `${field}.tlsConfig`);
  }

  /** The URL, as kube-scheduler names an extender in messages. */
  get name(): string {
    return this.config.urlPrefix;
  }

  get isIgnorable(): boolean {
    return this.config.ignorable;
  }

  get filters(): boolean {
    return this.config.filterVerb !== '';
  }

  get prioritizes(): boolean {
    return this.config.prioritizeVerb !== '';
  }

  get binds(): boolean {
    return this.config.bindVerb !== '';
  }

  get preempts(): boolean {
    return this.config.preemptVerb !== '';
  }

  /** Whether it is asked about the pod: always, or if the pod asks for one of its resources. */
  concerns({ spec }: ReadablePod): boolean {
    const { managedResources } = this.config;
    if (managedResources.length === 0) return true;
    const managed = new Set(managedResources.map(({ name }) => name));
    return [...(spec.initContainers ?? []), ...spec.containers].some(({ resources }) =>
      Object.keys({ ...resources?.requests, ...resources?.limits }).some((name) => managed.has(name)),
    );
  }

  /** @returns why it refuses nodes, by their names; what it leaves out without a reason is refused too */
  async filter(
    pod: ReadablePod,
    nodes: readonly NodeInfo[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Status>> {
    const answer = await this.send(this.config.filterVerb, this.argsOf(pod, nodes), filterResult, signal);
    if (answer.error) throw new TerminalError(answer.error);
    const names = answer.nodenames ?? answer.nodes?.items?.map(({ metadata }) => metadata.name) ?? [];
    const left = new Set(names);
    const known = new Set(nodes.map(({ name }) => name));
    for (const name of left)
      if (!known.has(name))
        throw new TerminalError(
          `extender "${this.name}" claims a filtered node "${name}" which is not found in the input node list`,
        );
    const [failed, hopeless] = [answer.failednodes ?? {}, answer.failedandunresolvablenodes ?? {}];
    const refusals = new Map<string, Status>();
    for (const { name } of nodes) {
      if (left.has(name)) continue;
      const reason = hopeless[name];
      const status =
        reason === undefined
          ? unschedulable(failed[name] ?? `node(s) were refused by extender ${this.name}`)
          : unresolvable(reason);
      refusals.set(name, { ...status, plugin: this.name });
    }
    return refusals;
  }

  /** @returns its weighted scores by node name, on the scale of the plug-ins' */
  async prioritize(
    pod: ReadablePod,
    nodes: readonly NodeInfo[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    const { prioritizeVerb, weight = 0 } = this.config;
    const answer = await this.send(prioritizeVerb, this.argsOf(pod, nodes), prioritizeResult, signal);
    return new Map(
      (answer ?? []).map(({ host, score }) => {
        if (score < 0 || score > MOST_SCORE)
          throw new TerminalError(
            `extender "${this.name}" scored ${host} ${score}: a score is from 0 to ${MOST_SCORE}`,
          );
        return [host, score * weight * SCORE_SCALE];
      }),
    );
  }

  async bind({ pod }: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid = '' } = pod.metadata;
    const args: ExtenderBindingArgs = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node };
    const answer = await this.send(this.config.bindVerb, args, bindingResult, signal);
    if (answer?.error) throw new TerminalError(answer.error);
  }

  /** @returns the victims that it agrees to; undefined if it does not want them evicted from the node */
  async preempt(
    pod: ReadablePod,
    node: string,
    victims: readonly PodInfo[],
    signal: AbortSignal,
  ): Promise<readonly PodInfo[] | undefined> {
    const { nodeCacheCapable, preemptVerb } = this.config;
    const whole: ExtenderVictims = { Pods: victims.map((victim) => victim.pod), NumPDBViolations: 0 };
    const meta: ExtenderVictims = {
      Pods: victims.map((victim) => ({ UID: victim.pod.metadata.uid ?? '' })),
      NumPDBViolations: 0,
    };
    const args: ExtenderPreemptionArgs = {
      Pod: pod,
      NodeNameToVictims: nodeCacheCapable ? null : { [node]: whole },
      NodeNameToMetaVictims: nodeCacheCapable ? { [node]: meta } : null,
    };
    const answer = await this.send(preemptVerb, args, preemptionResult, signal);
    const agreed = answer.nodenametometavictims?.[node];
    if (!agreed) return undefined;
    return (agreed.pods ?? []).map(({ uid }) => {
      const victim = victims.find((each) => each.pod.metadata.uid === uid);
      if (!victim)
        throw new TerminalError(`extender "${this.name}" names a victim ${uid} that is not on ${node}`);
      return victim;
    });
  }

  private argsOf(pod: ReadablePod, nodes: readonly NodeInfo[]): ExtenderArgs {
    return this.config.nodeCacheCapable
      ? { Pod: pod, Nodes: null, NodeNames: nodes.map(({ name }) => name) }
      : { Pod: pod, Nodes: { items: nodes.map(({ node }) => node) }, NodeNames: null };
  }

  private async send<Answer>(
    verb: string,
    body: unknown,
    schema: ZodType<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { httpTimeout, urlPrefix } = this.config;
    const url = new URL(`${withoutTrailing(urlPrefix, '/')}/${verb}`);
    if (this.config.enableHTTPS) url.protocol = 'https:';
    const either = new LinkedAbort(signal);
    const late = new TimeoutError(`no answer within ${httpTimeout} ms`);
    const timer = this.clock.setTimeout(() => either.abort(late), httpTimeout);
    try {
      const text = await post(url, stringifyJson(body), {
        ...this.tls,
        signal: either.signal,
      });
      const parsed = schema.safeParse(parseJson(text));
      if (!parsed.success)
        throw new TerminalError(`its answer is not valid: ${parsed.error.issues[0]?.message}`);
      return parsed.data;
    } catch (error) {
      signal.throwIfAborted();
      const isLate = either.signal.reason === late;
      const why = isLate ? late.message : errorMessage(error);
      const Failure = isLate ? TimeoutError : TerminalError;
      throw new Failure(`failed to ask extender at ${url.href}: ${why}`, { cause: error });
    } finally {
      timer.cancel();
      either.close();
    }
  }
}

function post(url: URL, body: string, options: RequestOptions): Promise<string> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { promise, reject, resolve } = Promise.withResolvers<string>();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const request = send(url, { ...options, method: 'POST', headers }, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) request.destroy(new TerminalError('its answer is too large'));
      chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => {
      if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new TerminalError(`it answered ${response.statusCode}`));
    });
  });
  request.on('error', reject);
  request.end(body);
  return promise;
}

function tlsOptions(
  { enableHTTPS, tlsConfig, urlPrefix }: ExtenderConfiguration,
  field: string,
): RequestOptions {
  if (!enableHTTPS && !urlPrefix.startsWith('https:')) return {};
  const given = tlsConfig ?? {};
  const read = (data: string | undefined, file: string | undefined, name: string): Buffer | undefined => {
    if (data !== undefined) return Buffer.from(data, 'base64');
    if (file === undefined) return undefined;
    try {
      return readNamedFileSync(file);
    } catch (error) {
      throw new InvalidOptionError(`${field}.${name}`, errorMessage(error), { cause: error });
    }
  };
  const [ca, cert, key] = [
    read(given.caData, given.caFile, 'caFile'),
    read(given.certData, given.certFile, 'certFile'),
    read(given.keyData, given.keyFile, 'keyFile'),
  ];
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(given.serverName !== undefined && { servername: given.serverName }),
    // As kube-scheduler does: without an authority to check against, any certificate is accepted.
    rejectUnauthorized: given.insecure !== true && (ca !== undefined || !enableHTTPS),
  };
}

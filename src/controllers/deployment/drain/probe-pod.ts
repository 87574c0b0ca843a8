import { isIP, isIPv6 } from 'node:net';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { DrainCondition } from '../../shared/index.js';
import { isOwnAddress } from '../policies/checks/common/guarded-lookup.js';
import type { HttpSender, IncomingAnswer } from '../policies/checks/common/http-sender.js';
import { NoAnswerError } from '../policies/checks/common/no-answer-error.js';
import { jsonOf, numberOf, valueAt } from '../policies/checks/sources/read-json.js';
import type { Reading } from './decide-draining.js';

const TIMEOUT_MS = 1000;

/** The conditions that need a request. */
export type ProbedCondition = Exclude<DrainCondition, { readonly kind: 'annotation' }>;

/**
 * Asks a pod once. The request goes to the address of the pod itself, which its kubelet reports, and nowhere else; nothing of
 * the answer but one number is kept. Rejects only once the signal aborts.
 */
export async function probePod(
  pod: DeepReadonly<Pod>,
  condition: ProbedCondition,
  sender: HttpSender,
  signal: AbortSignal,
): Promise<Reading> {
  const problem = addressProblem(pod);
  if (problem !== undefined) return { unknown: problem };
  try {
    const headers = { accept: condition.kind === 'metric' ? 'text/plain' : 'application/json, text/plain' };
    const url = `${originOf(pod, condition.port)}${condition.path}`;
    const answer = await sender.send({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS }, signal);
    const value = valueIn(answer, condition);
    return Number.isFinite(value) ? { value } : { unknown: 'its answer has no such number' };
  } catch (error) {
    if (error instanceof NoAnswerError) return { unknown: error.message };
    throw error;
  }
}

/** `http://10.1.2.3:8080`. */
function originOf({ status }: DeepReadonly<Pod>, port: number): string {
  const { podIP = '' } = status ?? {};
  return `http://${isIPv6(podIP) ? `[${podIP}]` : podIP}:${port}`;
}

/** Why a pod cannot be asked: its address must be its own, and not that of a machine. */
function addressProblem({ spec, status }: DeepReadonly<Pod>): string | undefined {
  const { podIP = '' } = status ?? {};
  if (spec.hostNetwork === true) return 'it has the network of its node, whose ports are not its own';
  if (isIP(podIP) === 0 || podIP.includes('%')) return 'it has no address';
  if (podIP === status?.hostIP) return 'its address is that of its node';
  return isOwnAddress({ address: podIP }) ? 'its address is that of a machine itself' : undefined;
}

function valueIn(answer: IncomingAnswer, condition: ProbedCondition): number {
  const { body, status } = answer;
  if (status < 200 || status > 299) throw new NoAnswerError(`answered ${status}`);
  if (condition.kind === 'metric') return readMetric(body, condition.metric) ?? NaN;
  if (!condition.field) return numberOf(body.length > MOST_DIGITS ? undefined : body.trim());
  const path = condition.field.map((part) => (/^\d{1,6}$/.test(part) ? Number(part) : part));
  return numberOf(valueAt(jsonOf(answer), ...path));
}

/** A longer text is no number that a condition can ask for. */
const MOST_DIGITS = 100;

/**
 * The sum of the samples of one name in the text format of Prometheus, regardless of their labels; undefined if there is
 * none, or one is no number.
 */
function readMetric(text: string, name: string): number | undefined {
  let sum: number | undefined;
  for (const line of text.split('\n')) {
    if (!line.startsWith(name)) continue;
    const rest = line.slice(name.length);
    if (!rest.startsWith('{') && !rest.startsWith(' ') && !rest.startsWith('\t')) continue;
    const [value] = rest
      .slice(rest.lastIndexOf('}') + 1)
      .trim()
      .split(/\s/, 1);
    const number = value === undefined || value === '' ? NaN : Number(value);
    if (!Number.isFinite(number)) return undefined;
    sum = (sum ?? 0) + number;
  }
  return sum;
}

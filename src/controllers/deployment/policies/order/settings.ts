import { parseDuration } from '@rollkeeper/machinery/clock';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isShortText, isTime, readJson } from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { PREFIX, annotationOf } from '../common/names.js';
import { NO_DURATION, type PolicySettings } from '../common/settings.js';

/** On a Deployment whose rollout waits for others: since when, and which of them change together with it. */
export const ORDER_SEEN = `${PREFIX}order-seen`;

/** A Deployment that goes first. */
export interface Predecessor {
  /** The Deployment is in the same namespace. */
  readonly name: string;
  /** `good`: its bake time is over and its checks have passed as well. `complete`: all its pods are new and available. */
  readonly state: 'good' | 'complete';
  /** How long it must have been complete, milliseconds. */
  readonly forMs: number;
}

export interface OrderFields {
  /** The Deployments whose rollouts of the same change must have ended well before this one begins. @default none */
  readonly after: readonly Predecessor[];
}

/** A chain of more is a mistake, and each costs a look on every pass. */
const MOST_PREDECESSORS = 20;
const LONGEST_NAME = 253;

export const ORDER_SETTINGS: PolicySettings<OrderFields> = {
  none: { after: [] },
  readers: {
    after: (text, fields) => {
      const parsed = parseAfter(text);
      if (typeof parsed === 'string') return parsed;
      fields.after = parsed;
      return undefined;
    },
  },
  combine: (_, { annotations, has, problemOf }) => {
    const isDefault = has('after') && annotations[annotationOf('after')] === undefined;
    return isDefault ? { problems: [problemOf('after', 'belongs on the Deployment')] } : {};
  },
  keeps: [ORDER_SEEN],
};

/**
 * `deployment/db-schema, deployment/api@complete 5m`.
 * @returns why it cannot be read, as the end of a sentence
 */
export function parseAfter(text: string): readonly Predecessor[] | string {
  const parts = text.split(',', MOST_PREDECESSORS + 1);
  if (parts.length > MOST_PREDECESSORS) return `names more than ${MOST_PREDECESSORS} Deployments`;
  const all: Predecessor[] = [];
  for (const part of parts) {
    const parsed = parsePredecessor(part.trim());
    if (typeof parsed === 'string') return `names "${part.trim()}", which ${parsed}`;
    if (all.some(({ name }) => name === parsed.name)) return `names deployment/${parsed.name} twice`;
    all.push(parsed);
  }
  return all;
}

/** The predecessors that an annotation names; none if it cannot be read. */
export function predecessorsOf(annotations: Annotations | undefined): readonly Predecessor[] {
  const parsed = parseAfter(annotations?.[annotationOf('after')] ?? '');
  return typeof parsed === 'string' ? [] : parsed;
}

const NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const KINDS: ReadonlySet<string> = new Set(['deployment', 'deployments', 'deploy']);

function parsePredecessor(text: string): Predecessor | string {
  const [which = '', duration, ...more] = text.split(/\s+/);
  const [path = '', state = 'good', ...states] = which.split('@');
  const [kind, name] = path.includes('/') ? path.split('/', 2) : ['deployment', path];
  if (more.length > 0 || states.length > 0 || path.split('/').length > 2)
    return 'is not of the form deployment/NAME, deployment/NAME@complete or deployment/NAME 5m';
  if (kind === undefined || !KINDS.has(kind)) return 'is not a Deployment';
  if (name === undefined || name.length > LONGEST_NAME || !NAME.test(name))
    return 'is not the name of a Deployment';
  if (state !== 'good' && state !== 'complete')
    return `asks for "${state}", which is neither good nor complete`;
  const forMs = duration === undefined ? 0 : parseDuration(duration);
  return forMs === undefined ? NO_DURATION : { name, state, forMs };
}

/** The facts that a rollout has seen of those that it waits for. */
export interface OrderSeen {
  /** The hash of the template that waits. */
  readonly template: string;
  /** When it was first seen, RFC 3339. */
  readonly asked: string;
  /** The names of those that change together with it. */
  readonly with: readonly string[];
}

/** `undefined` if there is none, or none that can be read: then it counts as seen now. */
export function readOrderSeen(annotations: Annotations): OrderSeen | undefined {
  const read = readJson(annotations[ORDER_SEEN]);
  if (!isJsonObject(read)) return undefined;
  const { asked, template, with: names } = read;
  if (!isTime(asked) || !isShortText(template) || !Array.isArray(names)) return undefined;
  const known = names.filter((name): name is string => isShortText(name, LONGEST_NAME));
  return { template, asked, with: known.slice(0, MOST_PREDECESSORS) };
}

export function renderOrderSeen({ asked, template, with: names }: OrderSeen): string {
  return stringifyJson({ template, asked, with: [...names] });
}

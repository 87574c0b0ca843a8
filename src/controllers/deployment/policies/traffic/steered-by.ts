import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { readJson } from '../../../shared/index.js';
import { SERVICE_NAME } from '../blue-green/settings.js';
import { OBJECT_NAME, PREFIX } from '../common/names.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import type { TrafficServices } from '../common/steered-services.js';

/** A Deployment whose rollout leads requests by a route. */
export interface SteeredBy {
  readonly deployment: string;
  /** Absent where only an added rule tells. */
  readonly services?: TrafficServices;
  /** The names of the only rules that are meant. @default all that name both Services */
  readonly rules?: readonly string[];
}

/** The name of each rule that a controller adds to a route begins so. */
export const ADDED_RULE = 'rollkeeper.';

/**
 * On a route: the Deployments whose rollouts lead its requests now, with their Services. It is written and removed in one write with the
 * first and the last of what they lead by, so that any process finds what a Deployment has left that no longer exists.
 */
export const STEERED_BY = `${PREFIX}steered-by`;

/** A route has at most this many rules, and each Deployment needs one of its own. Anyone who may write a route writes its annotations. */
const MOST_DEPLOYMENTS = 16;
/** The most rules that the definition of a route allows. */
export const MOST_RULES = 16;

/** The Deployments that a route says it is steered by, and those whose added rules it has. */
export function steeredByOf(
  annotations: Annotations | undefined,
  rules: readonly { readonly name?: string }[] = [],
): readonly SteeredBy[] {
  const noted = notedIn(annotations?.[STEERED_BY]);
  const known = new Set(noted.map(({ deployment }) => deployment));
  const added = new Set(rules.flatMap(({ name }) => deploymentOfRule(name) ?? []));
  return [...noted, ...[...added].filter((name) => !known.has(name)).map((deployment) => ({ deployment }))];
}

function notedIn(text: string | undefined): readonly SteeredBy[] {
  const read = readJson(text);
  if (!isJsonObject(read)) return [];
  return Object.entries(read)
    .slice(0, MOST_DEPLOYMENTS)
    .flatMap(([deployment, value]) => {
      const noted = OBJECT_NAME.test(deployment) && isJsonObject(value) ? readNote(value) : undefined;
      return noted ? [{ deployment, ...noted }] : [];
    });
}

function readNote({
  canary,
  rules,
  stable,
}: Readonly<Record<string, unknown>>): Pick<SteeredBy, 'rules' | 'services'> | undefined {
  if (!isServiceName(stable) || !isServiceName(canary)) return undefined;
  const services = { stable, canary };
  if (!Array.isArray(rules)) return { services };
  const names = new Set(rules.filter((rule) => typeof rule === 'string'));
  return { services, rules: [...names].slice(0, MOST_RULES) };
}

function isServiceName(value: unknown): value is string {
  return typeof value === 'string' && SERVICE_NAME.test(value);
}

function deploymentOfRule(name = ''): string | undefined {
  if (!name.startsWith(ADDED_RULE)) return undefined;
  const end = name.lastIndexOf('.');
  const deployment = name.slice(ADDED_RULE.length, end);
  return /^\d+$/.test(name.slice(end + 1)) && OBJECT_NAME.test(deployment) ? deployment : undefined;
}

import type { CheckDefinition } from './check-definition.js';
import type { HostRule } from './check-hosts.js';
import { hostProblem } from './check-hosts.js';

/** Why a request of a check may not be sent, for people; undefined if all of them may. */
export function refusedHost(definition: CheckDefinition, hosts: readonly HostRule[]): string | undefined {
  const [problem] = urlsOf(definition).flatMap((url) => hostProblem(url, hosts) ?? []);
  return problem;
}

function urlsOf(definition: CheckDefinition): readonly string[] {
  if (definition.kind === 'job') return [];
  return definition.kind === 'webhook' ? [definition.url] : definition.metric.urls;
}

import { createHash } from 'node:crypto';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import { LabelSelectorSyntaxError, parseLabelSelector, isDnsLabel } from '@rollkeeper/machinery/kubernetes';

/** The part of a cluster that an installation manages. */
export interface Scope {
  /** Empty: all. Sorted, each once. */
  readonly namespaces: readonly string[];
  /** As typed. @default everything */
  readonly selector?: string;
  readonly selects?: LabelMatcher;
  /** Short name of the scope, the same on all replicas; undefined for the whole cluster. */
  readonly id?: string;
}

/** @throws InvalidOptionError naming the option */
export function compileScope(
  options: { readonly namespaces?: string; readonly selector?: string },
  definitions: readonly ControllerDefinition[],
): Scope {
  const namespaces = parseNamespaces(options.namespaces ?? '');
  const selector = options.selector?.trim() ?? '';
  if (namespaces.length === 0 && selector === '') return { namespaces };
  const option = namespaces.length > 0 ? 'namespaces' : 'selector';
  const whole = definitions.filter(({ needsWholeCluster }) => needsWholeCluster).map(({ name }) => name);
  if (whole.length > 0)
    throw new InvalidOptionError(
      option,
      `${whole.join(' and ')} must see the whole cluster: leave it to another installation (--controllers=deployment,replicaset)`,
    );
  return {
    namespaces,
    ...(selector !== '' && { selector, selects: parseSelector(selector) }),
    id: createHash('sha256')
      .update(`${namespaces.join(',')} ${selector}`)
      .digest('hex')
      .slice(0, 8),
  };
}

function parseNamespaces(list: string): readonly string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) {
    if (!isDnsLabel(name)) throw new InvalidOptionError('namespaces', `"${name}" is no namespace's name`);
  }
  return [...new Set(names)].toSorted();
}

function parseSelector(text: string): LabelMatcher | undefined {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (!(error instanceof LabelSelectorSyntaxError)) throw error;
    throw new InvalidOptionError('selector', error.message, { cause: error });
  }
}

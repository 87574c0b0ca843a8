import { goQuote } from '@rollkeeper/machinery/kubernetes';
import type { ApplyOutcome } from './apply.js';
import { pathsOf } from './field-set.js';
import { pathText } from './fields-v1.js';
import type { Manager } from './managers.js';

interface ApplyConflict {
  readonly message: string;
  readonly causes: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
}

/** The words of a refused apply. Source: `NewConflictError` of apimachinery's managedfields. */
export function describeConflicts(conflicts: ApplyOutcome['conflicts']): ApplyConflict {
  const owners = conflicts
    .map(({ manager, fields }) => ({
      text: managerText(manager),
      paths: pathsOf(fields).map(pathText),
    }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  const causes = owners.flatMap(({ text, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${text}`, field })),
  );
  const [first] = causes;
  if (causes.length === 1 && first) {
    return { message: `Apply failed with 1 conflict: ${first.message}: ${first.field}`, causes };
  }
  const lines = owners.flatMap(({ text, paths }) => [
    `conflicts with ${text}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  return { message: `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`, causes };
}

function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const who = goQuote(name) + (subresource ? ` with subresource ${goQuote(subresource)}` : '');
  return operation === 'Apply' ? who : `${who} using ${apiVersion}`;
}

import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { DNS_1123_LABEL } from '@rollkeeper/machinery/kubernetes';
import * as kit from '@rollkeeper/runtime';
import { defineKind } from '@rollkeeper/runtime';

/** The names in a new operator's files. */
export interface OperatorNames {
  /** The name of the operator, its folder and its chart: `website-operator`. */
  readonly name: string;
  /** `Website` */
  readonly kind: string;
  /** `website` */
  readonly singular: string;
  /** `websites` */
  readonly plural: string;
  /** `example.com` */
  readonly group: string;
}

export interface AskedNames {
  readonly name: string;
  /** @default made of the name: `website-operator` is for `Website` */
  readonly kind?: string;
  readonly group: string;
}

/** Chart, roles and Service are named after it, some with a suffix. */
const LONGEST_NAME = 50;
const SUFFIX = /-(operator|controller)$/;

/** @throws InvalidOptionError naming what cannot be used */
export function operatorNames({ group, kind: asked, name }: AskedNames): OperatorNames {
  if (!new RegExp(`^${DNS_1123_LABEL}$`).test(name) || name.length > LONGEST_NAME)
    throw new InvalidOptionError(
      'name',
      `must be lower-case letters, digits and hyphens, at most ${LONGEST_NAME}`,
    );
  const kind = asked ?? kindOf(name);
  // A file that imports both would not compile.
  if (kind in kit)
    throw new InvalidOptionError('kind', `${kind} is a name of the kit: name another one by --kind`);
  const { resource: plural } = defineKind({ group, version: 'v1', kind });
  return { name, kind, singular: kind.toLowerCase(), plural, group };
}

function kindOf(name: string): string {
  const words = name.replace(SUFFIX, '').split('-');
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

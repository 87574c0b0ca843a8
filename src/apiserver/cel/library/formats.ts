import {
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
} from '@rollkeeper/machinery/kubernetes';
import type { Environment } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import { meter } from './cost.js';
import { parseUrl } from './addresses.js';
import { register, registerNamespace } from './register.js';

const TYPE = 'kubernetes.NamedFormat';

/** Returns the faults of a text; an empty list means that it is right. */
type Check = (text: string) => readonly string[];

class FormatValue {
  constructor(
    readonly name: string,
    readonly check: Check,
  ) {}
}

const FORMATS: ReadonlyMap<string, FormatValue> = new Map(
  Object.entries<Check>({
    dns1123Label: checkDns1123Label,
    dns1123Subdomain: checkDns1123Subdomain,
    dns1035Label: checkDns1035Label,
    qualifiedName: checkQualifiedName,
    dns1123LabelPrefix: (text) => checkDns1123Label(completed(text)),
    dns1123SubdomainPrefix: (text) => checkDns1123Subdomain(completed(text)),
    dns1035LabelPrefix: (text) => checkDns1035Label(completed(text)),
    labelValue: checkLabelValue,
    uri: (text) => (parseUrl(text) ? [] : ['invalid URI']),
    uuid: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i, 'UUID'),
    byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'base64'),
    date: (text) => (isDate(text) ? [] : ['invalid date']),
    datetime: (text) => (isDateTime(text) ? [] : ['invalid datetime']),
  }).map(([name, check]) => [name, new FormatValue(name, check)]),
);

/** Named formats and their `validate`. Source: apiserver/pkg/cel/library/format.go. */
export function registerFormats(environment: Environment): void {
  environment.registerType(TYPE, FormatValue);
  environment.registerOperator(`${TYPE} == ${TYPE}`, (a: FormatValue, b: FormatValue) => a.name === b.name);
  const formats = registerNamespace(environment, 'format');
  for (const [name, format] of FORMATS)
    register(environment, { [`${formats}.${name}(): ${TYPE}`]: () => format });
  register(environment, {
    [`${formats}.named(string): optional<${TYPE}>`]: (_formats, name: string) => {
      const format = FORMATS.get(name);
      return format ? Optional.of(format) : Optional.none();
    },
    [`${TYPE}.validate(string): optional<list<string>>`]: ({ check }: FormatValue, text: string) => {
      meter.charge(text.length / 2);
      const problems = check(text);
      return problems.length > 0 ? Optional.of([...problems]) : Optional.none();
    },
  });
}

/** A prefix may end in a dash: what a name is made of follows it. Source: maskTrailingDash. */
function completed(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;
}

function matching(pattern: RegExp, name: string): Check {
  return (text) => (pattern.test(text) ? [] : [`invalid ${name}`]);
}

function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.test(text) &&
    isDate(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text))
  );
}

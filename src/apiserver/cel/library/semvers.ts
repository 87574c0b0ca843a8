import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { register } from './register.js';

const TYPE = 'kubernetes.Semver';
const PATTERN =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;
const MAX_LENGTH = 256;

/** A semantic version 2.0.0. Build metadata does not count. */
export class SemverValue {
  private constructor(
    readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint],
    readonly preRelease: readonly string[],
  ) {}

  static parse(text: string): SemverValue | undefined {
    const match = text.length <= MAX_LENGTH ? PATTERN.exec(text) : undefined;
    if (!match) return undefined;
    const [, major = '', minor = '', patch = '', preRelease] = match;
    return new SemverValue([BigInt(major), BigInt(minor), BigInt(patch)], preRelease?.split('.') ?? []);
  }

  compare(other: SemverValue): number {
    for (const [index, number] of this.numbers.entries()) {
      const otherNumber = other.numbers[index] ?? 0n;
      if (number !== otherNumber) return number < otherNumber ? -1 : 1;
    }
    return comparePreReleases(this.preRelease, other.preRelease);
  }
}

/** A version comes after its pre-releases. */
function comparePreReleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return Math.sign(other.length - one.length);
  for (let place = 0; place < Math.max(one.length, other.length); place++) {
    const [a, b] = [one[place], other[place]];
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    const difference = compareIdentifiers(a, b);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Numbers come before words. */
function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  const [a, b] = isNumber ? [BigInt(one), BigInt(other)] : [one, other];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Source: apiserver/pkg/cel/library/semver.go. */
export function registerSemvers(environment: Environment): void {
  environment.registerType(TYPE, SemverValue);
  environment.registerOperator(
    `${TYPE} == ${TYPE}`,
    (one: SemverValue, other: SemverValue) => one.compare(other) === 0,
  );
  const read = (text: string): SemverValue => {
    const version = SemverValue.parse(text);
    if (!version) throw new EvaluationError(`invalid semantic version "${text}"`);
    return version;
  };
  register(environment, {
    [`semver(string): ${TYPE}`]: read,
    [`semver(string, bool): ${TYPE}`]: (text: string, isLenient: boolean) =>
      read(isLenient ? normalized(text) : text),
    'isSemver(string): bool': (text: string) => SemverValue.parse(text) !== undefined,
    'isSemver(string, bool): bool': (text: string, isLenient: boolean) =>
      SemverValue.parse(isLenient ? normalized(text) : text) !== undefined,
    [`${TYPE}.major(): int`]: ({ numbers }: SemverValue) => numbers[0],
    [`${TYPE}.minor(): int`]: ({ numbers }: SemverValue) => numbers[1],
    [`${TYPE}.patch(): int`]: ({ numbers }: SemverValue) => numbers[2],
    [`${TYPE}.isLessThan(${TYPE}): bool`]: (one: SemverValue, other: SemverValue) => one.compare(other) < 0,
    [`${TYPE}.isGreaterThan(${TYPE}): bool`]: (one: SemverValue, other: SemverValue) =>
      one.compare(other) > 0,
    [`${TYPE}.compareTo(${TYPE}): int`]: (one: SemverValue, other: SemverValue) => BigInt(one.compare(other)),
  });
}

/** Without `v` and leading zeros, and with the numbers that are left out. */
function normalized(text: string): string {
  const [beginning = '', numbers = ''] = /^v?([\d.]*)/.exec(text) ?? [];
  const rest = text.slice(beginning.length);
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  if (parts.length > 3) return text;
  while (parts.length < 3 && rest === '') parts.push('0');
  return parts.join('.') + rest;
}

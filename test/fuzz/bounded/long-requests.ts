import type { RandomSource } from '../../../src/machinery/clock/index.js';
import { createSchemaRegistry } from '../../../src/apiserver/index.js';
import { Bodies } from '../../support/growth/bodies.js';
import type { GrowingField } from '../../support/growth/fields.js';
import { allFields } from '../../support/growth/steep-fields.js';
import { SAMPLE_NAME } from '../arbitraries/samples.js';
import type { HostileRequest } from '../fuzzed-server.js';
import {
  APPLY_PATCH,
  JSON_PATCH,
  JSON_TYPE,
  MERGE_PATCH,
  NAMESPACE,
  STRATEGIC_PATCH,
  YAML_TYPE,
} from '../seeds/index.js';

/**
 * The units that a text repeats: patterns, quoting and languages inside of texts are slow with these, if they are
 * slow at all.
 */
const UNITS = [
  'a',
  ' ',
  '1',
  'a.',
  '/',
  '-',
  '{{',
  '$(',
  '::',
  '%',
  "'",
  '*',
  '\n',
  '\u001b[',
  '<b>',
  '😀',
  '"\\',
];
const LENGTHS = [1, 50, 400, 2000, 8000, 20_000];
/** Most texts are longer than most lists. */
const CHARACTERS_PER_ENTRY = 40;

/** Requests whose objects have one list, map or text that is long. */
export class LongRequests {
  private readonly bodies = new Bodies(createSchemaRegistry());
  private readonly fields = allFields().filter(({ kind }) => kind.type.namespaced);
  private count = 0;

  constructor(private readonly random: RandomSource) {}

  next(): HostileRequest {
    const field = this.pick(this.fields);
    const { group, resource, version } = field.kind.type;
    const root = group === '' ? '/api' : `/apis/${group}`;
    const collection = `${root}/${version}/namespaces/${NAMESPACE}/${resource}`;
    const query = this.pick(['', '?dryRun=All', '?dryRun=All&fieldValidation=Strict']);
    const isStatus = field.path[0] === 'status' && field.kind.subresources.includes('status');
    const object = `${collection}/${SAMPLE_NAME}${isStatus ? '/status' : ''}${query}`;
    const applied = `${object}${query === '' ? '?' : '&'}fieldManager=${this.pick(['a', 'b'])}&force=${this.pick(['true', 'false'])}`;
    return this.pick([
      () => this.write('POST', collection + query, JSON_TYPE, this.body(field, `long-${++this.count}`)),
      () => this.write('POST', collection + query, YAML_TYPE, this.body(field, `long-${++this.count}`)),
      () => this.write('PUT', object, JSON_TYPE, this.body(field, SAMPLE_NAME)),
      () => this.write('PATCH', object, MERGE_PATCH, this.body(field, SAMPLE_NAME)),
      () => this.write('PATCH', object, STRATEGIC_PATCH, this.body(field, SAMPLE_NAME)),
      () => this.write('PATCH', applied, APPLY_PATCH, this.body(field, SAMPLE_NAME)),
      () => this.write('PATCH', object, JSON_PATCH, this.replacing(field)),
    ])();
  }

  private write(method: string, path: string, contentType: string, body: unknown): HostileRequest {
    return { method, path, headers: { 'content-type': contentType }, body: JSON.stringify(body) };
  }

  private body(field: GrowingField, name: string): object {
    const length = this.pick(LENGTHS) * (field.sort === 'text' ? CHARACTERS_PER_ENTRY : 1);
    const body = this.bodies.make(field, length, this.pick(['equal', 'different']), this.pick(UNITS)) as {
      readonly metadata: object;
    };
    return field.path.at(-1) === 'name' ? body : { ...body, metadata: { ...body.metadata, name } };
  }

  private replacing(field: GrowingField): object[] {
    const entries = Object.entries(this.body(field, SAMPLE_NAME));
    return entries.map(([name, value]) => ({ op: 'add', path: `/${name}`, value: value as unknown }));
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random.next() * choices.length)]!;
  }
}

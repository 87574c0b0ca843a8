import { stringifyJson } from '../../base/kubernetes/index.js';
import { customKindsOf, refusalOf } from '../kinds/index.js';
import type { Definition, KindDefinition, KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { isEstablished } from './decide-status.js';

/** What is remembered of a definition: not its schemas, which the kinds have. */
interface Known {
  readonly group: string;
  readonly accepted: NonNullable<Definition['status']>['acceptedNames'];
  readonly established: boolean;
  /** Changes when the kinds do. */
  readonly state: string;
  readonly kinds: readonly KindDefinition[];
}

/** The kinds that a server has because of definitions, kept in step with them. */
export class ServedKinds {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly kinds: KindRegistry,
    private readonly schemas: SchemaRegistry,
  ) {}

  /** Takes over a definition as it is now. */
  put(definition: Readonly<Definition>): void {
    const { metadata, spec, status } = definition;
    const before = this.known.get(metadata.name);
    // A status is no proof: others than the server may have written it.
    const established = isEstablished(definition) && refusalOf(definition) === undefined;
    const state = stringifyJson([
      metadata.uid,
      metadata.generation,
      metadata.deletionTimestamp,
      established,
      status?.acceptedNames,
    ]);
    const kinds = before?.state === state ? before.kinds : this.replace(definition, before, established);
    this.known.set(metadata.name, {
      group: spec?.group ?? '',
      accepted: status?.acceptedNames,
      established,
      state,
      kinds,
    });
  }

  /** A definition is gone. Returns its group, if it was known. */
  remove(name: string): string | undefined {
    const before = this.known.get(name);
    this.known.delete(name);
    for (const kind of before?.kinds ?? []) this.removeKind(kind);
    return before?.group;
  }

  /** The names that the other definitions of a group have got. */
  takenBeside(name: string, group: string): NonNullable<Known['accepted']>[] {
    return [...this.known]
      .filter(([other, known]) => other !== name && known.group === group)
      .flatMap(([, { accepted }]) => (accepted ? [accepted] : []));
  }

  /** The definitions of a group that did not get their names, and may get them when another one goes. */
  waitingIn(group: string): string[] {
    return [...this.known]
      .filter(([, known]) => known.group === group && !known.established)
      .map(([name]) => name);
  }

  private replace(
    definition: Readonly<Definition>,
    before: Known | undefined,
    established: boolean,
  ): readonly KindDefinition[] {
    const own = new Set(before?.kinds);
    const wanted = (established ? customKindsOf(definition) : []).filter(({ kind: { type } }) => {
      const existing = this.kinds.find(type.group, type.version, type.resource);
      return !existing || own.has(existing);
    });
    for (const kind of own) this.removeKind(kind);
    for (const { kind, schema } of wanted) {
      this.schemas.put(kind.schema, schema);
      this.kinds.put(kind);
    }
    return wanted.map(({ kind }) => kind);
  }

  private removeKind(kind: KindDefinition): void {
    this.kinds.remove(kind.type);
    this.schemas.remove(kind.schema);
  }
}

import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { customKindsOf, refusalOf, servedKindOf } from '../../../kinds/index.js';
import type { Definition, KindDefinition, KindRegistry } from '../../../kinds/index.js';
import type { SchemaRegistry } from '../../../schema/index.js';
import { isEstablished } from './decide-status.js';

/** The kind that a definition asks for, and when the definition was created. */
interface Claim {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly since: string;
}

/** The facts that are remembered of a definition: not its schemas, which the kinds have. */
interface Known extends Claim {
  readonly accepted: NonNullable<Definition['status']>['acceptedNames'];
  /** Its kinds are served, or would be if they were none of an older definition. */
  readonly established: boolean;
  readonly isServed: boolean;
  /** Changes when the kinds do. */
  readonly state: string;
  readonly kinds: readonly KindDefinition[];
}

/**
 * The kinds that a server has because of definitions, kept in step with them. Of definitions that have the same kind in spite of all
 * decisions about names, the oldest is served: a schema, and what owners are found by, belong to one.
 */
export class ServedKinds {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly kinds: KindRegistry,
    private readonly schemas: SchemaRegistry,
  ) {}

  /** Takes over a definition as it is now. */
  put(definition: Readonly<Definition>): void {
    const { metadata, status } = definition;
    const before = this.known.get(metadata.name);
    const claim = claimOf(definition);
    // A status is no proof: others than the server may have written it.
    const established = isEstablished(definition) && refusalOf(definition) === undefined;
    const rivals = established ? this.rivalsOf(claim) : [];
    const isServed = established && rivals.every((rival) => isOlder(claim, rival));
    if (isServed) for (const rival of rivals) this.withdraw(rival);
    const state = stringifyJson([
      metadata.uid,
      metadata.generation,
      metadata.deletionTimestamp,
      isServed,
      status?.acceptedNames,
    ]);
    const kinds = before?.state === state ? before.kinds : this.replace(definition, before, isServed);
    const accepted = status?.acceptedNames;
    this.known.set(metadata.name, { ...claim, accepted, established, isServed, state, kinds });
  }

  /** A definition was deleted. Returns its group, if it was known. */
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

  /** The definitions of a group that are not served, and may be when another one goes. */
  waitingIn(group: string): string[] {
    return [...this.known]
      .filter(([, known]) => known.group === group && !known.isServed)
      .map(([name]) => name);
  }

  private rivalsOf({ group, kind, name }: Claim): Known[] {
    return [...this.known.values()].filter(
      (other) => other.established && other.name !== name && other.group === group && other.kind === kind,
    );
  }

  private withdraw(rival: Known): void {
    for (const kind of rival.kinds) this.removeKind(kind);
    this.known.set(rival.name, { ...rival, isServed: false, kinds: [], state: '' });
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

function claimOf(definition: Readonly<Definition>): Claim {
  const { metadata, spec } = definition;
  return {
    name: metadata.name,
    group: spec.group,
    kind: servedKindOf(definition),
    since: metadata.creationTimestamp ?? '',
  };
}

function isOlder(claim: Claim, other: Claim): boolean {
  return claim.since === other.since ? claim.name < other.name : claim.since < other.since;
}

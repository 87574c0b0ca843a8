const PARAMETERS: Readonly<Record<string, string>> = { list: 'list', map: 'map', optional: 'optional_type' };

/** A text with its types as cel-go writes them: `list(int)` for `list<int>`. */
export function typesIn(text: string): string {
  const next = text.replaceAll(
    /\b(list|map|optional)<([^<>]*)>/g,
    (_whole, name: string, inner: string) => `${PARAMETERS[name]!}(${inner})`,
  );
  return next === text ? text : typesIn(next);
}

const BARE: Readonly<Record<string, string>> = {
  duration: 'google.protobuf.Duration',
  list: 'list(dyn)',
  map: 'map(dyn, dyn)',
  null: 'null_type',
  optional: 'optional_type(dyn)',
  timestamp: 'google.protobuf.Timestamp',
};

/** A type of an expression as cel-go writes it. */
export function shownType(type: string): string {
  return typesIn(type).replaceAll(
    /(?<![.\w])(duration|list|map|null|optional|timestamp)(?![(.\w])/g,
    (name) => BARE[name]!,
  );
}

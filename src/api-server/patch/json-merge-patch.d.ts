declare module 'json-merge-patch' {
  /** RFC 7386. Changes and returns `target`. */
  export function apply(target: unknown, patch: unknown): unknown;
  const library: { apply: typeof apply };
  export default library;
}

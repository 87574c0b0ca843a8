import 'reflect-metadata';

/**
 * The value that one of our decorators has stored about a class. Its symbol is its own, so nothing else is stored under
 * it.
 */
export function storedBy<T>(decorator: symbol, target: object): T | undefined {
  return Reflect.getMetadata(decorator, target) as T | undefined;
}

// YAML of a document. A file of its own, loaded where it is used: the library takes a fifth of a command's start. Refuses
// to be the library itself: the build gives a dynamic import of a CommonJS package no names.

import { stringify } from 'yaml';

export const yamlOf = (document: object): string => stringify(document);

// Client code that nobody needs until it is asked for: a chunk of its own, fetched then.

import { defineComponent, h } from 'vue';

export default defineComponent(
  () => () =>
    h('label', { 'data-search': __SITE_VERSION__ }, [`Search in ${__SITE_VERSION__}: `, h('input')]),
);

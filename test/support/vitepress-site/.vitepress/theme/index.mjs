// The default theme, and under every page a word from the client: that the page has come to life, which build its
// code is of, and how often it was clicked; and something to open that was not loaded before.

import DefaultTheme from 'vitepress/theme';
import { defineAsyncComponent, defineComponent, h, onMounted, ref } from 'vue';

const Search = defineAsyncComponent(() => import('./search.mjs'));

const Life = defineComponent(() => {
  const isAlive = ref(false);
  const isSearching = ref(false);
  const clicks = ref(0);
  onMounted(() => {
    isAlive.value = true;
  });
  const count = () => {
    clicks.value += 1;
  };
  const openSearch = () => {
    isSearching.value = true;
  };
  return () =>
    h('footer', { 'data-alive': isAlive.value, 'data-code': __SITE_VERSION__, 'data-clicks': clicks.value }, [
      h('button', { onClick: count }, `code of ${__SITE_VERSION__}, ${clicks.value} clicks`),
      h('button', { 'data-open': true, onClick: openSearch }, 'Search'),
      isSearching.value ? h(Search) : undefined,
    ]);
});

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'layout-bottom': () => h(Life) }),
};

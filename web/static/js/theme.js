// Runs before the first paint, so a chosen theme never flashes.
const theme = localStorage.getItem('webchat.theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

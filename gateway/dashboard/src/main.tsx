import { render } from 'preact';
import { App } from './app.js';
import './styles.css';

const place = document.getElementById('app');
if (place) render(<App />, place);
